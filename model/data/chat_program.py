"""Renders a model's chat template, as a program of its own: the template is one, too.

It is run with an empty environment (`model.data.chat`) and takes from standard input what `_said`
reads, as JSON. The template runs in jinja2's sandbox with what transformers gives it (5.23,
`render_jinja_template`), but for the day, which is always the same.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from re import Pattern, compile, escape
from typing import Any

from jinja2 import Environment, ext, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

SECONDS, BYTES = 2, 256 << 20
MOST = 100_000  # characters of a rendered chat
DAY = datetime(2026, 1, 1)
BEGIN, END = "\U000f0000", "\U000f0001"  # around what only looks like a control token
OPEN, CLOSE = "\U000f0002", "\U000f0003"  # around what a person wrote, with the number of its turn


class Generation(ext.Extension):
    """Marks what an assistant wrote; it is read and passed by."""

    tags = {"generation"}  # noqa: RUF012  its class has it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The block without its mark."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class Names(Namespace):
    """A namespace that keeps nothing of Python's inside."""

    def __init__(*given: Any, **named: Any) -> None:  # noqa: ANN401
        self, *values = given
        Namespace.__init__(self, _checked(dict(*values, **named)))

    def __setitem__(self, name: str, value: object) -> None:
        Namespace.__setitem__(self, name, _checked({name: value})[name])


class Dictionaries:
    """`dict`, without its attributes."""

    def __call__(self, *values: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401
        """A new one."""
        return dict(*values, **named)

    def fromkeys(self, *values: Any) -> dict[str, Any]:  # noqa: ANN401
        """One whose values are equal."""
        return dict.fromkeys(*values)


def _checked(names: dict[str, Any]) -> dict[str, Any]:
    for name in names:
        if str(name).startswith("_"):
            raise SecurityError(f"the name {name!r} begins with an underscore")
    return names


def _refuse(message: str = "it says no reason") -> None:
    raise TemplateError(message)


def _json(
    x: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    more = {"indent": indent, "separators": separators, "sort_keys": sort_keys}
    return json.dumps(x, ensure_ascii=ensure_ascii, **more)


def _environment() -> Environment:
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    made.filters["tojson"] = _json
    made.globals |= {
        "raise_exception": _refuse,
        "strftime_now": DAY.strftime,
        "dict": Dictionaries(),
        "namespace": Names,
    }
    return made


def _control_tokens(made: Environment, said: Mapping[str, Any]) -> Pattern[str]:
    """Tokens that the template alone may write, as `_get_control_tokens` finds them."""
    tree = made.parse(said["template"])
    found = {node.data for node in tree.find_all(nodes.TemplateData)}
    found |= {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
    literals, named = "\0".join(found), said["control_tokens"]

    def is_written(token: str) -> bool:
        return token in named if named is not None else token in literals and not token.isspace()

    tokens = [token for token, is_special in said["added"] if is_special or is_written(token)]
    longest_first = sorted(tokens, key=len, reverse=True)
    return compile("|".join(map(escape, longest_first)) or "(?!)")


def _rendered(said: Mapping[str, Any]) -> dict[str, str]:
    """The chat with what looks like a control token marked; and with each turn in its frame."""
    made = _environment()
    control = _control_tokens(made, said)
    template = made.from_string(said["template"])

    def render(contents: Sequence[str]) -> str:
        both = zip(said["roles"], contents, strict=True)
        messages = [{"role": role, "content": content} for role, content in both]
        always = {"tools": None, "documents": None, "add_generation_prompt": said["asks"]}
        text = template.render(messages=messages, **always, **said["names"])
        if len(text) > MOST:
            raise TemplateError(f"it writes {len(text):,} characters, more than {MOST:,}")
        return text

    framed = [f"{OPEN}{i}{OPEN}{text}{CLOSE}" for i, text in enumerate(said["texts"])]
    marked = [control.sub(f"{BEGIN}\\g<0>{END}", text) for text in said["texts"]]
    return {"text": render(marked), "framed": render(framed)}


def main() -> None:
    """Render once, within the bounds; what goes wrong is a line of the answer."""
    import resource  # here: only this process needs it, and Windows has none

    said = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        answer = _rendered(said)
    except MemoryError:
        answer = {"error": f"it takes more than {BYTES >> 20} MB"}
    except Exception as error:
        answer = {"error": str(error) or type(error).__name__}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
