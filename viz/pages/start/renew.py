"""`python -m viz.pages.start.renew`: record again the run that Home opens with."""

import json
from dataclasses import replace

from viz import runs
from viz.frame.examples import examples
from viz.frame.settings import TEMPERATURE, TOP_P
from viz.kit.files import RECORDED
from viz.kit.part import Part
from viz.kit.parts.home import Going, going_on, home_part
from viz.labels import token_labels


def recorded() -> Part:
    """The first example as Home shows it; of its outputs the one that is shown, (1, V)."""
    handle = runs.handle_of(runs.model_names()[0], "cpu")
    trace = runs.run(handle, examples()[0].sentence).trace
    part = home_part(trace, token_labels(runs.vocabulary(handle)))
    asked = part.spec["asked"]
    spec = {**going_on(part.spec, Going(None)), "answers": [asked, asked + 1]}
    arrays = {**part.arrays, "logits": part.arrays["logits"][asked : asked + 1]}
    state = {**part.state, **{of.name: of.default for of in (TEMPERATURE, TOP_P)}}
    return replace(part, spec=spec, state=state, arrays=arrays)


def main() -> None:
    """Write assets/home.json."""
    text = json.dumps(recorded().contents, ensure_ascii=False)
    RECORDED.write_text(text + "\n", encoding="utf-8")
    print(f"{len(text):,} characters: {RECORDED.name}")


if __name__ == "__main__":
    main()
