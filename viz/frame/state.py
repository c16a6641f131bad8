"""Where the values of settings are: this visitor's session, and the address, which can be copied.

The session has the say; what the address says counts for settings the session has no value of
yet. The address in the session knows the settings of all pages; the browser's gets those of the
open page and the shared ones, in one piece. Where a person goes by a link, or by Back and Forward,
the address has the say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qsl, quote

import streamlit as st

from viz.frame import notices
from viz.frame.kinds import Number, Setting
from viz.frame.settings import PAGE, PRESENT, SENTENCE, SETTINGS, TOUR

Value = TypeVar("Value")

VISIT = "visit"
# Of all that is not short together: a proxy takes 8 KB for an address, our server 16 KB for all
# that it is sent. What is longer cannot be opened again.
LONGEST_IN_ADDRESS, SHORT = 7_000, 40


@dataclass
class Visit:
    """What a session keeps of its settings beside their values; all by name.

    In one piece: whatever is asked of the session itself, Streamlit first looks whether the script
    shall go on, and a page asks for a hundred settings.
    """

    address: dict[str, str]  # of this visit, of all pages, in today's names
    # What was set and not drawn yet; None stands for the default. A run that is cut short before it
    # draws a widget would lose what was set for it: Streamlit takes the widget's value from the
    # browser then, which still has the last one.
    waiting: dict[str, object] = field(default_factory=dict)
    put: dict[str, object] = field(default_factory=dict)  # set since the last address
    owners: dict[str, object] = field(default_factory=dict)
    defaults: dict[str, object] = field(default_factory=dict)  # the last, of those that follow one
    chosen: set[str] = field(default_factory=set)  # once off their default
    settled_on: dict[str, str | None] = field(default_factory=dict)  # the page
    too_long: set[str] = field(default_factory=set)  # for the address
    typed: str = ""  # the last sentence that was
    last: Mapping[str, str] | None = None  # the address that was written last
    changed: set[str] = field(default_factory=set)  # what made it another one
    before: Mapping[str, str] = field(default_factory=dict)  # the address before the last step
    went: Mapping[str, str] | None = None  # where a person went, until it is drawn
    own: Mapping[str, str] | None = None  # the address before a lesson was opened


def visit() -> Visit:
    """That of this session."""
    visit = st.session_state.get(VISIT)
    if visit is None:
        visit = st.session_state[VISIT] = Visit(st.query_params.to_dict())
    return visit


def value(setting: Setting[Value]) -> Value:
    """The value of a setting that no widget of Streamlit holds, brought to a possible one."""
    settle(setting)
    return publish(setting)


def number(setting: Number) -> float:
    """The value of a number where one is always given; see `Number.none`."""
    chosen = value(setting)
    assert chosen is not None
    return chosen


def settle(setting: Setting) -> None:
    """Give a setting its value before its widget is drawn, and say what had to be mended.

    Streamlit's own binding to the URL drops impossible values without a word, and forgets the
    widgets of other pages.
    """
    name, now = setting.name, visit()
    if setting.follows:
        _follow(setting)
    is_new = name in now.waiting
    missing = object()
    kept = st.session_state.get(name, missing)
    raw = now.waiting.pop(name) if is_new else now.address.get(name) if kept is missing else kept
    chosen, line = (setting.default, None) if raw is None else setting.nearest(raw)
    if line and (is_new or not is_of_another_page(setting)):
        notices.add(line)  # what another page allowed nobody asked for here
    now.settled_on[name] = st.session_state.get(PAGE.name)
    if is_new or kept is missing or chosen != raw:
        st.session_state[name] = chosen


def is_of_another_page(setting: Setting) -> bool:
    """Whether a value was settled last, and not set since, where another page was open."""
    page = st.session_state.get(PAGE.name)
    return visit().settled_on.get(setting.name, page) != page


def unsettled() -> set[str]:
    """Names of what was set and not drawn yet."""
    return set(visit().waiting)


def _follow(setting: Setting) -> None:
    """A value that is still the last default becomes the new one.

    Not the default of another page for one that a person chose before: it stands there as well.
    """
    name, now = setting.name, visit()
    last = now.defaults.get(name, setting.default)
    value = st.session_state.get(name)
    if value not in (None, last):
        now.chosen.add(name)
    is_kept = name in now.chosen and is_of_another_page(setting)
    if last != setting.default and value == last and not is_kept:
        st.session_state[name] = setting.default
    now.defaults[name] = setting.default


def publish(setting: Setting[Value]) -> Value:
    """Write a settled value into the address, or take it out when it is the default."""
    chosen, address, too_long = st.session_state[setting.name], visit().address, visit().too_long
    text = setting.text(chosen)
    others = (of for name, of in address.items() if name != setting.name and len(of) > SHORT)
    is_long = chosen != setting.default and len(text) > SHORT
    is_too_long = is_long and _written(text, *others) > LONGEST_IN_ADDRESS
    (too_long.add if is_too_long else too_long.discard)(setting.name)
    if chosen == setting.default or is_too_long:
        address.pop(setting.name, None)
    else:
        address[setting.name] = text
    if is_too_long:
        notices.add(f"{setting.label} is too long for the address: a copied link opens without it.")
    return chosen


def is_too_long(setting: Setting) -> bool:
    """Whether the address does without this setting, as links do then: the session has it."""
    return setting.name in visit().too_long


def _written(*texts: str) -> int:
    """Characters of an address for these, as a browser writes it."""
    return sum(len(quote(text, safe="*")) + 2 * text.count("~") for text in texts)


def put(*values: tuple[Setting, object], chosen_for: object = None) -> None:
    """Set several settings at once, from a callback or before they are drawn.

    `chosen_for` is what they belong to, for settings that are `only_for` it.
    """
    now = visit()
    for setting, raw in values:
        st.session_state[setting.name] = now.waiting[setting.name] = now.put[setting.name] = raw
        if chosen_for is not None:
            now.owners[setting.name] = chosen_for


def settle_quietly(setting: Setting) -> None:
    """Bring a value to a possible one without a line: nobody asked for another."""
    for values in (st.session_state, visit().waiting):
        if values.get(setting.name) is not None:
            values[setting.name], _ = setting.nearest(values[setting.name])


def asked(setting: Setting) -> object:
    """What a setting has in this session, else in the address; None where neither says anything."""
    return st.session_state.get(setting.name, visit().address.get(setting.name))


def drop(setting: Setting) -> bool:
    """Bring a setting back to its default; True where it was anything else."""
    raw = asked(setting)
    put((setting, setting.default))
    return raw not in (None, setting.default, setting.text(setting.default))


def leave_out(setting: Setting) -> None:
    """Take a setting out of the address where nothing shows it; its value stays."""
    visit().address.pop(setting.name, None)


def only_for(owner: object, *settings: Setting, then: object = None) -> None:
    """Back to their defaults, or `then`, when they were chosen for another owner: a sentence."""
    for setting in settings:
        if visit().owners.setdefault(setting.name, owner) != owner:
            put((setting, then), chosen_for=owner)  # the default is that of the new owner


def take_over(changes: dict[str, object], prefix: str = "") -> None:
    """Keep what a person changed in the browser; whether it is possible is seen when it is used.

    `prefix` is what our names begin with and the browser's do not. Without changes the browser
    only reported something: what the page had to say is said again.
    """
    if not changes:
        notices.repeat()
    else:
        _go_on()
    for name, raw in changes.items():
        if prefix + name in SETTINGS:
            put((SETTINGS[prefix + name], raw))
    if SENTENCE.name in changes:
        visit().typed = str(changes[SENTENCE.name])


# --- the address ------------------------------------------------------------------------------


def address_of(page: str) -> dict[str, str]:
    """What a page depends on, and nothing of other pages.

    What is not ours, such as a parameter of whoever embeds the app, stays, after what is.
    """
    address = visit().address
    ours = [name for name in SETTINGS if name in address and SETTINGS[name].is_in_address_of(page)]
    others = [name for name in address if name not in SETTINGS]
    return {name: address[name] for name in (*ours, *others)}


def steps(address: Mapping[str, str]) -> int:
    """How many steps Back takes from this address, which becomes the last one, to the last one.

    A text and a click on another page right after it come in one run, of that page: the text is a
    step of its own, or Back would skip it.
    """
    now, page = visit(), PAGE.name
    changed, now.put = now.put, {}
    last = now.last
    if last is None or now.went is not None or last.get(page) == address.get(page):
        return _is_step(address)
    left = dict(last)
    for name, raw in changed.items():
        if name != page and _shown_on(name, last.get(page, "")):
            left.pop(name, None)
            if raw not in (None, SETTINGS[name].default) and not is_too_long(SETTINGS[name]):
                left[name] = SETTINGS[name].text(raw)
    return (left != last and _is_step(left)) + _is_step(address)


def _is_step(address: Mapping[str, str]) -> bool:
    """Whether Back shall lead to what was before this address, which becomes the last one.

    What is typed or dragged changes often: as long as it is one and the same thing, all its values
    are one step.
    """
    now = visit()
    last, now.last = now.last, dict(address)
    went, now.went = now.went, None
    if last is None or went is not None:
        now.changed = set()
        return False
    changed = {name for name in {*last, *address} if last.get(name) != address.get(name)}
    if not changed:
        return False
    before, now.changed = now.changed, changed
    if changed == before and all(map(_is_dragged, changed)):
        return False
    now.before = last
    return True


def _is_dragged(name: str) -> bool:
    return name in SETTINGS and SETTINGS[name].is_dragged


def go(
    page: str | None = None, query: str | None = None, *, changes: str = "", is_new: bool = False
) -> None:
    """Open a view with all else as it is but for `changes`, or everything a whole address says.

    What an address leaves out, of what its page shows, is at its default. One that `is_new` was not
    in the history before: Back leads from it to what is shown now.
    """
    if page is not None:
        _go_on()
        put((PAGE, page))
        put(*((SETTINGS[name], raw) for name, raw in parse_qsl(changes) if name in SETTINGS))
    if query is None:
        return
    now = visit()
    changed = dict(now.put)
    wanted = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True))
    if now.typed and TOUR.name in wanted:  # a step without a sentence is on one of the person's own
        wanted.setdefault(SENTENCE.name, now.typed)
    title = wanted.get(PAGE.name, "")
    if TOUR.name in wanted and TOUR.name not in now.address:
        now.own = dict(now.address)
    elif is_new and now.own is not None and TOUR.name in now.address and TOUR.name not in wanted:
        wanted, now.own = _left(wanted, now.own), None
    kept = {name: raw for name, raw in now.address.items() if not _shown_on(name, title)}
    for name, setting in SETTINGS.items():
        now.owners.pop(name, None)  # an address is whole: all in it is of one text
        if name in wanted:
            put((setting, wanted[name]))
        elif _shown_on(name, title) and name not in now.too_long:
            st.session_state.pop(name, None)
            now.waiting[name] = None
    now.address = {**kept, **wanted}
    now.put = changed  # on the page that is left
    now.went = None if is_new else address_of(title)
    now.changed = set()  # whatever comes next is another step


def _left(wanted: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """An address that leaves a lesson: its page, with all as it was before the lesson."""
    page = wanted.get(PAGE.name, "")
    stays = {name: raw for name, raw in wanted.items() if name in (PAGE.name, PRESENT.name)}
    return {name: raw for name, raw in own.items() if _shown_on(name, page)} | stays


def _go_on() -> None:
    """A person goes on before what Back led to was drawn: that is the last address then."""
    now = visit()
    if now.went is not None:
        now.last, now.went = now.went, None


def _shown_on(name: str, title: str) -> bool:
    return name in SETTINGS and SETTINGS[name].is_in_address_of(title)
