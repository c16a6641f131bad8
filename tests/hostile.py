"""Sentences that try to be more than text.

Each payload stands alone, breaks out of an attribute, stands inside a sentence, in capitals, and
three times over. Some go through the box and the address, see `tests/nightly`; all through the
command line, see `tests/model/commands`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from playwright.sync_api import Page

from tests.screen import query, settle, visit
from tests.serving import RunningApp

RUN = "window.hacked=1"
MARKUP = [
    f"<script>{RUN}</script>",
    f"<script type=module>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}></svg>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x></svg>",
    f"<body onload={RUN}>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<a href=javascript:{RUN}>a cat</a>",
    f"<details open ontoggle={RUN}>a cat</details>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<math><mtext><script>{RUN}</script></mtext></math>",
    f"<object data='data:text/html,<script>{RUN}</script>'></object>",
    f"<embed src='data:text/html,<script>{RUN}</script>'>",
    f"<form action=javascript:{RUN}><button>a</button></form>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "<base href='//evil.example/'>",
    "<link rel=stylesheet href='//evil.example/a.css'>",
    "<style>*{display:none}</style>",
    "<div style='position:fixed;inset:0;background:red'>a cat</div>",
    "</p></div></section></main>",
    "<!-- a cat -->",
    "<![CDATA[ a cat ]]>",
    "<template><img src=x></template>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;img src=x onerror={RUN}&#62;",
    f"%3Cscript%3E{RUN}%3C/script%3E",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
]
TEMPLATES = [
    "{{7*7}}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "{0.__class__.__mro__}",
    "%s%s%n%x",
    "%{x} %{y} <extra></extra>",
    "{text} {i} {0}",
    "$(touch /tmp/hacked)",
    "`touch /tmp/hacked`",
    "; touch /tmp/hacked",
    "' OR 1=1 --",
    "__import__('os').system('touch /tmp/hacked')",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "//evil.example/a",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
]
MARKDOWN = [
    f"[a cat](javascript:{RUN})",
    "![a cat](http://evil.example/a.png)",
    "# a cat",
    "**a** _cat_ ~~sat~~ `on`",
    "| a | b |\n| - | - |",
    "- a\n- b",
    "> a cat",
    ":red[a cat] :material/home: :streamlit:",
    "$x^2$ $$\\frac{1}{0}$$",
    "\\input{/etc/passwd} \\write18{ls}",
    "\\href{javascript:window.hacked=1}{a}",
    "\\(a\\) \\[b\\]",
    "```\na cat\n```",
    "---",
    "<https://evil.example>",
]
CHARACTERS = [
    "a\x00cat",
    "a\x07\x1b[31mcat",
    "a\r\ncat",
    "a\u2028cat\u2029sat\x85on",
    "\u202ea cat\u202c",
    "\u2066a\u2069",
    "a\u200b\u200d\ufeffcat",
    "a" + "\u0301" * 60,
    "👩‍👩‍👧‍👦🏴\U000e0067\U000e007f",
    "\ufffe\uffff\U0010ffff",
    "İıſß",
    "שלום العربية ไทย 中文",
    "\t \xa0\u3000",
    "a" * 3000,
    "<|endoftext|> </s> [PAD] <pad> [UNK]",
    '"},{"a":"b',
    '=HYPERLINK("http://evil.example";"a")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
]
PAYLOADS = [*MARKUP, *TEMPLATES, *MARKDOWN, *CHARACTERS]


def sentences() -> list[str]:
    """All of them, each once."""
    forms = [
        (p, f"\"'>{p}", f"Tom said {p} to Sam.", p.upper(), " ".join([p] * 3)) for p in PAYLOADS
    ]
    return list(dict.fromkeys(sentence for group in forms for sentence in group))


@dataclass
class Outcome:
    """What became of the sentences that were typed."""

    tried: int = 0
    executed: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


# What would be there had a payload been taken for markup: none of it is the app's own.
PLANTED = """() => window.hacked !== undefined ||
    document.querySelectorAll(`iframe, object, embed, base[href*=evil], link[href*=evil],
        img[src=x], img[src*=evil], [onload], [onerror], [onfocus], [ontoggle],
        a[href^=javascript]`).length > 0"""


def watch(page: Page, app: RunningApp, outcome: Outcome) -> None:
    """Note what the page does unasked."""
    page.on("pageerror", lambda error: outcome.page_errors.append(str(error)[:200]))
    page.on("dialog", lambda dialog: (outcome.executed.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((app.url, "data:", "blob:"))
            else outcome.foreign.append(request.url[:200])
        ),
    )


def type_all(page: Page, texts: Sequence[str], outcome: Outcome) -> None:
    """Type each into the box of the open page."""
    box = page.get_by_role("textbox", name="Sentence", exact=True)
    for text in texts:
        box.fill(text)
        box.press("Control+Enter")
        page.wait_for_timeout(120)
        settle(page)
        outcome.tried += 1
        if page.evaluate(PLANTED):
            outcome.executed.append(text)


def open_all(page: Page, texts: Sequence[str], outcome: Outcome) -> Iterator[dict[str, str]]:
    """Open the app with each in the address; gives what the address says then."""
    for number, text in enumerate(texts):
        title = ("Attention", "Logit lens", "Next token", "Masks")[number % 4]
        visit(page, page=title, sentence=text)
        outcome.tried += 1
        if page.evaluate(PLANTED):
            outcome.executed.append(text)
        yield query(page)
