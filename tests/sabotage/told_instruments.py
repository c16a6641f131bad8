"""Faults in what instruments tell beside their maps: counts, marks, words, other numbers."""

from tests.sabotage.fault import Fault

HOME_JS, HOME = "viz/live/home/home.js", "Home"
OPERANDS, ATTENTION = "viz/live/microscope/operands.js", "Attention"
DISTRIBUTION, STEP = "viz/live/writer/distribution.js", "viz/live/writer/step.js"
WRITER, DATA, NEXT = "viz/live/writer/writer.js", "viz/live/writer/data.py", "Next token"
WRITTEN = {"written": "9"}

TOLD_OF_INSTRUMENTS: list[Fault] = [
    Fault("told", "the word after the one that is told of is marked", HOME_JS,
          'word.classList.toggle("hl-looked", i === query);',
          'word.classList.toggle("hl-looked", i === query + 1);', "L2 H4", seen_on=HOME),
    Fault("told", "all tokens called others on Home", HOME_JS,
          "(this.#sorted.length - leading.length).toLocaleString",
          "this.#sorted.length.toLocaleString", "L2 H4", seen_on=HOME),
    Fault("told", "hidden cells called open", OPERANDS,
          '? "mask: open" : "mask: hidden"', '? "mask: hidden" : "mask: open"', "L2 H4",
          seen_on=ATTENTION),
    Fault("told", "the frame around the head beside the chosen one",
          "viz/live/microscope/overview.js",
          "this.#place(this.#chosenFrame, chosen.layer, chosen.head);",
          "this.#place(this.#chosenFrame, chosen.layer, chosen.head + 1);", "L2 H4",
          seen_on=ATTENTION),
    Fault("told", "what is predicted for others called sampled", DISTRIBUTION,
          "[this.#before, this.#after].map((all) =>", "[this.#after, this.#before].map((all) =>",
          "next token", seen_on=NEXT),
    Fault("told", "the star at the second token", DISTRIBUTION,
          "const isBest = this.#places[i] === 0;", "const isBest = this.#places[i] === 1;",
          "next token", seen_on=NEXT),
    Fault("told", "the second token called the greedy choice", DISTRIBUTION,
          'html("bdi", null, this.#data.labels[0]);', 'html("bdi", null, this.#data.labels[1]);',
          "next token", seen_on=NEXT),
    Fault("told", "the formula ends in the second token's probability", DISTRIBUTION,
          "equals(this.#after[0])", "equals(this.#after[1])", "next token", seen_on=NEXT),
    Fault("told", "tokens of the written text in reverse", "viz/live/writer/text.js",
          "if (bdi.textContent !== label) bdi.textContent = label;",
          'bdi.textContent = [...label].reverse().join("");', "written text", seen_on=NEXT),
    Fault("told", "predictions for the prompt one token late", DATA,
          '"given": [finite(p) for p in text.given],',
          '"given": [finite(p) for p in [text.given[0], *text.given[:-1]]],',
          "written text", seen_on=NEXT),
    Fault("told", "ranks of written tokens from 0", STEP, "(rank ${step.rank + 1}; p",
          "(rank ${step.rank}; p", "written text", seen_on=NEXT, query=WRITTEN),
    Fault("told", "what a token was drawn with called its prediction", STEP,
          "p = ${digits(step.before)} before", "p = ${digits(step.prob)} before", "written text",
          seen_on=NEXT, query=WRITTEN),
    Fault("told", "the token after the most attended one named", STEP,
          'html("bdi", null, labels[step.n_dropped + best]),',
          'html("bdi", null, labels[step.n_dropped + best + 1]),', "written text",
          seen_on=NEXT, query=WRITTEN),
    Fault("told", "the prompt's last token called the written one", STEP,
          'html("bdi", null, labels[n_prompt + at]),',
          'html("bdi", null, labels[n_prompt - 1]),', "written text",
          seen_on=NEXT, query=WRITTEN),
    Fault("told", "weights on written text one token late", WRITER,
          "this.#weights(step)[i - step.n_dropped] ?? 0;",
          "this.#weights(step)[i - 1 - step.n_dropped] ?? 0;", "written text",
          seen_on=NEXT, query=WRITTEN),
    Fault("told", "rows of new tokens called by those before", "viz/live/writer/picture.js",
          "rowLabels: axis.slice(n_prompt),", "rowLabels: axis.slice(n_prompt - 1, -1),",
          "new tokens", seen_on=NEXT, query=WRITTEN),
]  # fmt: skip
