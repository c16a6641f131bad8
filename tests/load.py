"""Many visitors at once, without their browsers: `python -m tests.load [--visitors 20]`.

Each visitor is a WebSocket client that speaks Streamlit's protocol: it opens the app, and for
`--seconds` types a sentence of its own every few seconds, switches heads, and turns a page now and
then. What is timed is the way from a text to its heat map: from the message that changes the
sentence to the data of the new map. Every map must be of the visitor's own sentence, and its
numbers those of a capture made here. Prints JSON.
"""

import asyncio
import json
import random
import statistics
import tempfile
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from model.sources import checkpoint
from tests.serving import RunningApp, running_app
from tests.soak import memory_mb

Result = TypeVar("Result")

WORDS = ["the", "cat", "dog", "sat", "saw", "big", "red", "ball", "ran", "to", "a", "house", "was"]
NAMES = ["Lily", "Tom", "Sam", "Anna", "Max", "Ben", "Mia", "Tim", "Sue", "Jack"]
THINKING = 3.0  # seconds between what a visitor does, on average; half of it either way
PATIENCE = 120.0
INTERNAL = "$$STREAMLIT_INTERNAL_KEY"  # what ids of triggers begin with
ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
CHECKED = 3  # maps of each visitor that are compared with a capture made here


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many come, for how long, and how often each does something."""

    visitors: int
    seconds: float
    thinking: float = THINKING


@dataclass(frozen=True)
class Map:
    """A heat map as a visitor was given it."""

    sentence: str
    labels: list[str]
    site: str
    head: int
    pattern: np.ndarray


@dataclass
class Visitor:
    """One session of the app, and what it was given."""

    app: RunningApp
    chance: random.Random
    query: dict[str, str] = field(default_factory=lambda: {"page": "Attention"})
    thinking: float = THINKING
    widgets: dict[str, WidgetState] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)  # of widgets, by the name of their setting
    known: dict[str, ForwardMsg] = field(default_factory=dict)  # messages sent by reference
    times: list[float] = field(default_factory=list)
    opened: float = 0.0
    maps: list[Map] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    live: dict[str, Any] = field(default_factory=dict)  # the newest data of the instrument
    drawn_at: float = 0.0  # when it came
    page: str = ""  # the open one
    turn: int = 0  # of what it typed or chose

    async def visit(self, seconds: float) -> None:
        """Open the app and use it for a while."""
        try:
            async with connected(self.app) as connection:
                started = time.perf_counter()
                await self.run(connection)
                self.opened = time.perf_counter() - started
                until = time.perf_counter() + seconds
                while time.perf_counter() < until:
                    await asyncio.sleep(self.thinking * self.chance.uniform(0.5, 1.5))
                    await self.act(connection)
        except Exception as error:  # whatever it is, the visitor did not get what he came for
            self.errors.append(f"{type(error).__name__}: {error}"[:200])

    async def act(self, connection: ClientConnection) -> None:
        """Type a sentence, mostly; else another head, or a look at another page and back."""
        what = self.chance.choices(["type", "head", "page"], [6, 3, 1])[0]
        if what == "head":
            self.choose("head", str(self.chance.randrange(8)))
            await self.run(connection)
        elif what == "page":
            for title in ("Next token", "Attention"):
                self.set_page(title)
                await self.run(connection)
                del self.widgets["page"]
                if self.page != title:
                    raise ValueError(f"the page is {self.page}, not {title}")
        else:
            await self.type(connection)

    async def type(self, connection: ClientConnection) -> None:
        """A new sentence; timed until its map is there, and checked to be its own."""
        name = f"{self.chance.choice(NAMES)} {self.chance.randrange(10_000)}"
        sentence = " ".join([name, *self.chance.choices(WORDS, k=self.chance.randint(5, 14)), "."])
        self.choose("sentence", sentence)
        started = time.perf_counter()
        await self.run(connection)
        self.times.append(self.drawn_at - started)
        found = await asyncio.to_thread(self.fetched, sentence)
        if found is not None:
            self.maps.append(found)

    def fetched(self, sentence: str) -> Map | None:
        """The arrays of the shown head, as the browser asks for them."""
        settings = self.live["settings"]
        stack = settings["attention"].split(".")[0]
        site = f"{stack}.blocks.{settings['layer']}.attn"
        about = self.live["arrays"][f"{site}.pattern"]
        address = f"{self.app.url}/kit/arrays/{about['id']}/{settings['head']}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                pattern = np.frombuffer(answer.read(), "<f4").reshape(about["shape"][1:])
        except OSError as error:
            self.errors.append(f"arrays: {error}"[:200])
            return None
        return Map(
            sentence, self.live["spec"]["streams"][stack]["labels"], site, settings["head"], pattern
        )

    def choose(self, name: str, value: str) -> None:
        """Type or choose something in the bar, as the browser would send it."""
        self.turn += 1
        message = {"sent": {"turn": self.turn, "changes": {name: value}}}
        self.widgets[name] = WidgetState(id=self.ids[name], json_value=json.dumps(message))

    def set_page(self, title: str) -> None:
        """Follow the link to a page."""
        self.turn += 1
        went = [{"event": "went", "value": {"page": title, "n": self.turn}}]
        state = WidgetState(id=f"{INTERNAL}_{self.ids['address']}__events")
        state.json_trigger_value = json.dumps(went)
        self.widgets["page"] = state
        self.widgets["address"] = WidgetState(id=self.ids["address"], json_value="{}")

    async def run(self, connection: ClientConnection) -> None:
        """Have the script run; take what it sends until it has ended."""
        message = BackMsg()
        client = message.rerun_script
        client.query_string = urlencode(self.query)
        client.widget_states.widgets.extend(self.widgets.values())
        client.cached_message_hashes.extend(self.known)
        await connection.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            async for content in connection:
                answer = ForwardMsg.FromString(content)
                kind = answer.WhichOneof("type")
                if kind == "ref_hash":
                    answer = self.known[answer.ref_hash]
                    kind = answer.WhichOneof("type")
                elif answer.metadata.cacheable and answer.hash:
                    self.known[answer.hash] = answer
                if kind == "delta":
                    self.take(answer)
                if kind == "script_finished" and answer.script_finished in ENDS:
                    return

    def take(self, message: ForwardMsg) -> None:
        """Keep the ids of widgets, the data of the instrument, and what went wrong."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "bidi_component" and "address" in element.bidi_component.component_name:
            self.ids["address"] = element.bidi_component.id
            query = parse_qs(json.loads(element.bidi_component.json)["query"])
            self.page = query.get("page", ["Home"])[0]
        elif kind == "bidi_component" and "control" in element.bidi_component.component_name:
            for name in json.loads(element.bidi_component.json)["settings"]:
                self.ids[name] = element.bidi_component.id
        if kind == "exception":
            self.errors.append(element.exception.message[:200])
        elif kind == "bidi_component" and "headlight_live" in element.bidi_component.component_name:
            self.live, self.drawn_at = json.loads(element.bidi_component.json), time.perf_counter()
        elif kind == "button":
            self.ids[element.button.label] = element.button.id
        elif kind in ("text_input", "selectbox", "button_group"):
            widget = getattr(element, kind).id
            self.ids[widget.rpartition("-")[2]] = widget


def connected(app: RunningApp, cookie: str = "") -> connect:
    """A WebSocket to the app, as its own page opens it."""
    return connect(
        f"ws://{app.url.removeprefix('http://')}/_stcore/stream",
        origin=Origin(app.url),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": cookie} if cookie else None,
        max_size=None,
    )


async def crowd(app: RunningApp, plan: Plan) -> list[Visitor]:
    """All visitors at once, coming in over two seconds."""
    visitors = [
        Visitor(app, random.Random(number), thinking=plan.thinking)
        for number in range(plan.visitors)
    ]

    async def come(number: int, visitor: Visitor) -> None:
        await asyncio.sleep(2 * number / plan.visitors)
        await visitor.visit(plan.seconds)

    await asyncio.gather(*(come(number, visitor) for number, visitor in enumerate(visitors)))
    return visitors


def wrong_maps(visitors: list[Visitor]) -> int:
    """How many maps are not what a capture made here gives, for the visitor's own sentence."""
    model = checkpoint.load("stories", "cpu")
    n_wrong = 0
    for visitor in visitors:
        for found in visitor.maps[-CHECKED:]:
            trace = model.trace(found.sentence).trace
            record = next(x for x in trace.attention if x.site.address == found.site)
            expected = record.pattern[found.head]
            is_same = found.pattern.shape == expected.shape and np.allclose(
                found.pattern, expected, atol=1e-5
            )
            n_wrong += not is_same
    return n_wrong


def summary(visitors: list[Visitor], grown_mb: float) -> dict[str, Any]:
    """What is asked of a crowd."""
    times = sorted(x for visitor in visitors for x in visitor.times)
    errors = [x for visitor in visitors for x in visitor.errors]
    return {
        "visitors": len(visitors),
        "texts": len(times),
        "text to map, p50, s": round(statistics.median(times), 3) if times else None,
        "text to map, p95, s (asked ≤ 1)": round(times[int(0.95 * len(times))], 3)
        if times
        else None,
        "opening, worst, s": round(max(visitor.opened for visitor in visitors), 3),
        "memory per visitor, MB (asked ≤ 15)": round(grown_mb / max(len(visitors), 1), 1),
        "maps that are not the visitor's own (asked 0)": wrong_maps(visitors),
        "maps checked": sum(len(visitor.maps[-CHECKED:]) for visitor in visitors),
        "errors": len(errors),
        "first errors": errors[:3],
    }


def run_apart(work: Coroutine[Any, Any, Result]) -> Result:
    """Run it in a thread of its own: a test's own may have a browser's loop already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def load(app: RunningApp, plan: Plan) -> dict[str, Any]:
    """Let one visitor come first, so that what the first one costs is not counted, then all."""
    run_apart(crowd(app, Plan(visitors=1, seconds=4)))
    before = memory_mb(app)
    visitors = run_apart(crowd(app, plan))
    return summary(visitors, memory_mb(app) - before)


def main() -> None:
    """Start the app, send the crowd, print JSON."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=20, metavar="N")
    parser.add_argument("--seconds", type=float, default=30, metavar="S")
    parser.add_argument("--thinking", type=float, default=THINKING, metavar="S")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder) / "log.txt") as app:
        found = load(app, Plan(**vars(arguments)))
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
