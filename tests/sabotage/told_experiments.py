"""Faults in what experiments and other architectures tell in words and single numbers."""

from tests.sabotage.fault import Fault

COSTS = "viz/pages/experiments/ablation/costs.py"
VISION, SKETCH = "viz/pages/architectures/vision.py", "viz/live/sketch/sketch.js"
ENCODER = "viz/pages/architectures/encoder.py"
FORCING = "viz/pages/architectures/translation/forcing.py"
DAMAGE = "viz/pages/architectures/translation/damage.py"
CANDIDATES = "viz/live/translation/candidates.js"
DRAWN = "viz/live/translation/translation.js"
GERMAN = {"target": "Zwei Kinder spielen mit einem roten Ball am Strand."}

TOLD_OF_EXPERIMENTS: list[Fault] = [
    Fault("told", "the head next to the dearest named", COSTS,
          "place, of = (rows.index(row_of(part)), part.unit or 0), f",
          "place, of = (rows.index(row_of(part)), (part.unit or 0) ^ 1), f",
          "costs.heads", seen_on="Ablation"),
    Fault("told", "the second dearest head called the dearest", COSTS,
          "most, least = max(heads, key=heads.__getitem__),",
          "most, least = sorted(heads, key=heads.__getitem__)[-2],",
          "costs.heads", seen_on="Ablation"),
    Fault("told", "shipped digits with the class of the one before", "model/data/images.py",
          "return Images(images, labels)", "return Images(images, np.roll(labels, 1))",
          "sketch", model="digits", seen_on="Vision"),
    Fault("told", "the shipped digit said to be the next one", VISION,
          "return Shipped(row, int(found.labels[row]),",
          "return Shipped(row, int(found.labels[row + 1]),",
          "sketch", model="digits", seen_on="Vision"),
    Fault("told", "the weight of [CLS] on itself is that on the first patch", SKETCH,
          "const onClass = digits(this.#row()[0], 3);",
          "const onClass = digits(this.#row()[1], 3);",
          "sketch", model="digits", seen_on="Vision"),
    Fault("told", "the patch that matters least called the one that matters most", VISION,
          "divmod(int(after.argmin()), side)", "divmod(int(after.argmax()), side)",
          "without", model="digits", seen_on="Vision"),
    Fault("told", "the second class of shuffled patches named", VISION,
          "other = int(found.argmax())", "other = int(found.argsort()[-2])",
          "shuffled.classes", model="digits", seen_on="Vision"),
    Fault("told", "greedy decoding draws one of two", "model/decoding/filters.py",
          "GREEDY = Sampling(top_k=1)", "GREEDY = Sampling(top_k=2)",
          "best.ids", model="translate", seen_on="Translation"),
    Fault("told", "candidates after the word that they would be", DRAWN,
          'this.data.streams.decoder.labels[n] ?? "")',
          'this.data.streams.decoder.labels[n + 1] ?? "")',
          "output[3]", model="translate", seen_on="Translation", query={"target_token": "3"}),
    Fault("told", "others counted without those not listed", CANDIDATES,
          "const count = step.n_others + step.leading.length - rows.length;",
          "const count = step.n_others;",
          "output", model="translate", seen_on="Translation"),
    Fault("told", "tokens the model would not have written counted", FORCING,
          "int(agrees.sum()))", "int((~agrees).sum()))",
          "best.agrees", model="translate", seen_on="Translation", query=GERMAN),
    Fault("told", "each other word is that of the token before", FORCING,
          "None if same else visible(vocabulary[i])",
          "None if same else visible(vocabulary[i - 1])",
          "best.others", model="translate", seen_on="Translation", query=GERMAN),
    Fault("told", "the second damage called the worst", DAMAGE,
          "worst = max(more, key=lambda name: more[name])",
          "worst = sorted(more, key=lambda name: more[name])[-2]",
          "damage.lost", model="translate", seen_on="Translation"),
    Fault("told", "the worth of the right with the first token", ENCODER,
          "gained = float(before.sum() - losses[1:].sum())",
          "gained = float(before.sum() - losses.sum())",
          "right.gained", model="blank", seen_on="Encoder"),
    Fault("told", "both masks exchanged in the legend", ENCODER,
          "pair = Predicted(NO_MASK, losses), Predicted(MASKED, masked)",
          "pair = Predicted(MASKED, losses), Predicted(NO_MASK, masked)",
          "pseudo", model="blank", seen_on="Encoder"),
]  # fmt: skip
