"""Protects the end of instruments: what they started stops when they are taken off the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.viz.harness import as_sent, at_rest, open_instrument, receive, rest
from tests.viz.kit.gallery import open_page
from tests.viz.kit.parts.made import INSTRUMENTS, attention

# Counts what is under way: timers, frames, observers, and listeners on what outlives an instrument.
# What plotly.js starts of its own is its own; its charts are purged, which is looked at too.
COUNTING = """() => {
    const alive = globalThis.alive = new Map();
    const isOurs = () => {
        const lines = new Error().stack.split('\\n');
        const frame = lines.find(line => ['/kit/', '/live/'].some(name => line.includes(name)));
        return Boolean(frame) && !frame.includes('plotly');
    };
    const starting = (kind, start, stop) => {
        const [begin, end] = [globalThis[start], globalThis[stop]];
        globalThis[start] = (act, ...rest) => {
            const id = begin((...given) => {
                if (kind !== 'interval') alive.delete(`${kind} ${id}`);
                act(...given);
            }, ...rest);
            if (isOurs()) alive.set(`${kind} ${id}`, new Error().stack);
            return id;
        };
        globalThis[stop] = id => { alive.delete(`${kind} ${id}`); end(id); };
    };
    starting('timer', 'setTimeout', 'clearTimeout');
    starting('interval', 'setInterval', 'clearInterval');
    starting('frame', 'requestAnimationFrame', 'cancelAnimationFrame');
    const Observer = globalThis.ResizeObserver;
    let n = 0;
    globalThis.ResizeObserver = class extends Observer {
        constructor(act) { super(act); this.name = `observer ${n++}`; }
        observe(node) { if (isOurs()) alive.set(this.name, ''); super.observe(node); }
        disconnect() { alive.delete(this.name); super.disconnect(); }
    };
    for (const target of [window, document]) {
        const [add, remove] = [target.addEventListener, target.removeEventListener];
        const key = (type, act) => `listener ${type} ${ids.get(act)}`;
        const ids = new Map();
        target.addEventListener = function (type, act, ...rest) {
            if (!ids.has(act)) ids.set(act, n++);
            if (isOurs()) alive.set(key(type, act), '');
            add.call(this, type, act, ...rest);
        };
        target.removeEventListener = function (type, act, ...rest) {
            alive.delete(key(type, act));
            remove.call(this, type, act, ...rest);
        };
    }
}"""
# What is under way before and after an instrument is taken off the page, and what it had said.
LEFT = """act => {
    act();
    const before = [...alive.keys()];
    host.destroy();
    return [before, [...alive.keys()], sent.length];
}"""
ALIVE = "kinds => [...alive.keys()].filter(name => kinds.includes(name.split(' ')[0]))"
KINDS = ["timer", "interval", "frame", "observer", "listener"]
MODULE = "async () => { globalThis.Lifetime = (await import('/kit/lifetime.js')).Lifetime; }"


@pytest.fixture(scope="module")
def bare(kit_profile: BrowserContext, kit_url: str) -> Iterator[Page]:
    """A page with nothing but instruments, on which all that they start is counted."""
    with open_page(kit_profile, kit_url, COUNTING) as page:
        page.evaluate(MODULE)
        yield page


def alive(page: Page, *kinds: str) -> list[str]:
    """What is under way."""
    return page.evaluate(ALIVE, list(kinds or KINDS))


# --- the lifetime alone -----------------------------------------------------------------------

# Starts one of each, and says what is under way before and after the end.
ONE_OF_EACH = """async how => {
    globalThis.done = [];
    const lifetime = new Lifetime(), act = name => () => done.push(name);
    const start = lifetime => [
        lifetime.timeout(act('timer'), 5), lifetime.interval(act('interval'), 5),
        lifetime.frame(act('frame')), lifetime.listen(window, 'resize', act('listener')),
        lifetime.watchSize(document.body, act('observer')), lifetime.keep(act('release')),
    ];
    const before = new Set(alive.keys());
    const started = start(how === 'child' ? lifetime.child() : lifetime);
    const under = [...alive.keys()].filter(name => !before.has(name)).length;
    if (how === 'sooner') started.forEach(stop => stop?.());
    lifetime.end();
    if (how === 'after') start(lifetime);
    const left = [...alive.keys()].filter(name => !before.has(name));
    const released = done.filter(name => name === 'release').length;
    done.length = 0;
    await new Promise(resolve => setTimeout(resolve, 40));
    window.dispatchEvent(new Event('resize'));
    return {under, left, released, done};
}"""


@pytest.mark.parametrize("how", ["end", "child", "sooner", "after"])
def test_nothing_is_left_after_the_end(how: str, bare: Page) -> None:
    """Its own, those of a lifetime within, those stopped before, and those begun too late."""
    found = bare.evaluate(ONE_OF_EACH, how)
    assert found["under"] == 5
    assert found["left"] == []
    assert found["done"] == []
    assert found["released"] == (2 if how == "after" else 1), "each release once"


def test_what_is_over_takes_no_room(bare: Page) -> None:
    """A timer that fired, a frame that came, a listener that heard its one event."""
    calls = bare.evaluate(
        """async () => {
            const lifetime = new Lifetime(), calls = [];
            lifetime.timeout(() => calls.push('timer'), 0);
            lifetime.frame(() => calls.push('frame'));
            lifetime.listen(window, 'resize', () => calls.push('heard'), {once: true});
            window.dispatchEvent(new Event('resize'));
            window.dispatchEvent(new Event('resize'));
            const waited = performance.now() + 5000;  // a busy machine paints when it can
            while (calls.length < 3 && performance.now() < waited)
                await new Promise(resolve => setTimeout(resolve, 20));
            await new Promise(resolve => setTimeout(resolve, 60));
            return calls.sort();
        }"""
    )
    assert calls == ["frame", "heard", "timer"]
    assert alive(bare) == []


# --- the five instruments ---------------------------------------------------------------------


# What a person was doing when the page was left.
BUSY = {
    "attention": "instrument.view.steps.play()",
    "writing": "instrument.go(0)",
    "mask_editor": "document.querySelector('[data-do=row]').click()",
    "rotation": "(slider => { slider.value = 2; slider.dispatchEvent(new Event('input')); })"
    "(document.querySelector('[data-setting=both]'))",
}


@pytest.mark.parametrize("name", BUSY)
def test_an_instrument_that_is_gone_does_nothing(name: str, bare: Page) -> None:
    open_instrument(bare, as_sent(INSTRUMENTS[name]()))
    at_rest(bare)
    before, after, said = bare.evaluate(f"({LEFT})(() => {BUSY[name]})")
    assert any(thing.startswith("observer") for thing in before), "it watches its size"
    assert any(thing.startswith(("timer", "interval")) for thing in before), "it has more to do"
    assert after == []
    bare.wait_for_function("![...document.querySelectorAll('.hl-chart')].some(x => x._fullLayout)")
    rest(bare, 400)  # longer than a person must rest
    assert bare.evaluate("sent.length") == said
    assert alive(bare) == []


def test_an_attention_that_goes_while_it_loads_draws_nothing(bare: Page) -> None:
    open_instrument(bare, as_sent(attention()))
    at_rest(bare)
    bare.evaluate("(instrument.root.dataset.drawn = '', instrument.redraw(), host.destroy())")
    assert alive(bare) == []
    bare.wait_for_timeout(200)
    assert alive(bare) == []
    assert bare.locator(".hl-live").get_attribute("data-drawn") == ""


def test_views_that_are_replaced_are_let_go(bare: Page) -> None:
    """Settings from outside make new views; the old ones must not gather."""
    open_instrument(bare, as_sent(attention()))
    at_rest(bare)
    n = len(alive(bare, "observer"))
    for head in (1, 2, 3, 4):
        receive(bare, as_sent(attention(head), acked=head))
        bare.locator(f".hl-live[data-drawn*=' H{head} ']").wait_for()
    assert len(alive(bare, "observer")) == n
