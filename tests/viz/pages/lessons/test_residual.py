"""Protects the lesson on the residual: measured at once, beside the model's own gradient."""

from pathlib import Path

from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, finished, lesson, lines, open_page
from tests.viz.builders import numbers

TITLE = "Why the residual?"


def test_the_measurement_begins_by_itself_and_is_told_once_it_is_there() -> None:
    app = open_page(TITLE, sentence=TOM, scene="layers", depth="4", seed="3")
    assert lines(app, "error") == []
    assert [button.label for button in app.button if button.label in ("Stop", "Compute")] == [
        "Stop"
    ]
    assert "{" not in lesson(app) and "In 4 blocks" not in lesson(app)
    lengths = [numbers(line["y"]) for line in chart(finished(app), "depth-layers").data]
    with_sum, _, without, _ = lengths
    assert (
        f"In 4 blocks of pre-norm it goes from {with_sum[-1]:.4f} to {with_sum[0]:.4f} with the "
        f"sum, and from {without[-1]:.4f} to {without[0]:.4f}"
    ) in lesson(app)


def test_own_gradients_are_there(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", norm_placement="post", feedforward="relu")
    app = open_page(TITLE, sentence=SENTENCE, scene="own")
    shown = numbers(chart(app, "depth-own").data[0]["y"])
    assert len(shown) == 3
    assert (shown > 0).all()
    assert f"{shown[-1]:.4f} where it sets out, after the last block" in lesson(app)
    assert f"{shown[0]:.4f} where it arrives, before the first" in lesson(app)
