"""How the numbers of the lesson on recurrence come about; see `viz.live.about`."""

from viz.live.about import About

_PACKAGE = "model.recurrence"
_ATTENTION = f"{_PACKAGE}.translators.AdditiveAttention"
_CROSS, _STEPS = f"{_PACKAGE}.reading.cross_patterns", f"{_PACKAGE}.steps.steps"
_SCORES = f"{_PACKAGE}.stored.accuracy_by_length"
_MODELS, _TASKS = ("fixed", "additive", "transformer"), ("reverse", "copy")
OF_RECURRENCE: dict[str, About] = {
    "recurrence.additive.energies": About("v · tanh(W s + U h)", _ATTENTION),
    "recurrence.additive.weights": About("softmax of the energies", _ATTENTION),
    "recurrence.additive.contexts": About("Σ weight · h", _ATTENTION),
    "recurrence.transformer.patterns": About("softmax of q · k / √d_head", _CROSS),
    "recurrence.transformer.own": About(
        "mean weight on the letter that is due", f"{_PACKAGE}.reading.on_own_letter"
    ),
    "recurrence.source": About("the task, the letters, the end", f"{_PACKAGE}.task.source_of"),
    "recurrence.answer": About("what is to be written", f"{_PACKAGE}.task.answer_of"),
    **{
        f"recurrence.{model}.{name}": about
        for model in _MODELS
        for name, about in {
            "written": About("most likely token, one by one", f"{_PACKAGE}.reading.written"),
            "right": About("letters right at their place", f"{_PACKAGE}.reading.n_right"),
            "seen": About("steps × rows of a step", f"{_PACKAGE}.stored.recipe_of"),
            "parameters": About(
                "trained numbers, a tied one once", f"{_PACKAGE}.translators.n_parameters"
            ),
            "known": About("steps or blocks one after the other", _STEPS),
            "writing": About("the same, token by token", _STEPS),
            "from_source": About("steps from a letter to its token, the most", _STEPS),
            "within_target": About("steps from the first token to the last", _STEPS),
            **{f"of_each.{task}": About("rows scored of a length", _SCORES) for task in _TASKS},
            **{f"length.{task}": About("letters of a row", _SCORES) for task in _TASKS},
            **{f"rows.{task}": About("exact rows / rows", _SCORES) for task in _TASKS},
            **{f"letters.{task}": About("right letters / letters", _SCORES) for task in _TASKS},
        }.items()
    },
}
