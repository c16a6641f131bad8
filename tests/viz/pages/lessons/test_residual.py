"""Protects why a block adds: measured at once, beside the model's own gradient."""

from pathlib import Path

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import chart, finished, lesson, lines, open_page
from tests.viz.builders import numbers


def test_the_measurement_begins_by_itself_and_is_told_once_it_is_there(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", norm_placement="post", feedforward="relu")
    app = open_page("Transformer block", sentence=SENTENCE, scene="gradients", seed="3")
    assert lines(app, "error") == []
    assert [button.label for button in app.button if button.label in ("Stop", "Compute")] == [
        "Stop"
    ]
    own = numbers(chart(app, "depth-own").data[0]["y"])
    assert len(own) == 3 and (own > 0).all()
    assert f"with length {own[-1]:.4f} and arrives before the first with {own[0]:.4f}." in lesson(
        app
    )
    assert "{" not in lesson(app) and "48 blocks" not in lesson(app)
    app = finished(app)
    with_sum, _, without, _ = (numbers(line["y"])[-1] for line in chart(app, "depth-first").data)
    assert f"{with_sum:.4f} arrives with the sum, and {without:.4f} without it." in lesson(app)
