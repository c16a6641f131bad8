"""How the numbers of the page on cost come about, as in `viz.live.about`."""

from viz.live.about import About

_SIZES, _FIT = "model.analysis.sizes", "model.analysis.cost_fit"
_BLOCK = "12 D², 6 D², all of one block"
_OPERATIONS = "2 · weights met + 4 · H · d_head · n of each attention"
_BYTES = "2 N, 16 N, 4 · G · d_head · n of each attention that is kept, 2 · H · n² of each"
# By the name before the numbers it depends on.
OF_COSTS: dict[str, About] = {
    **{
        f"{table}.{what}": About(formula, f"{_SIZES}.{source}")
        for table in ("running", "shape", "shapes")
        for what, formula, source in (
            ("parameters", "numbers of all weights, by part", "parameters"),
            ("block", _BLOCK, "attention_parameters"),
            ("operations", _OPERATIONS, "operations"),
            ("growth", _OPERATIONS, "operations"),
            ("memory", _BYTES, "memory"),
        )
    },
    "running.pass": About("operations of one token, added up", f"{_SIZES}.pass_operations"),
    "running.counts": About("numbers of a part", f"{_SIZES}.parameters"),
    "layers.costs": About("the orders of Vaswani et al. 2017, table 1", f"{_SIZES}.layer_costs"),
    "running.shares": About("numbers of a part / numbers of all", f"{_SIZES}.parameters"),
    "running.bytes": About("bytes of all tensors in the file", "viz.runs.counting.stored"),
    **{
        f"timed.{name}": About(f"{formula}, in ms", f"{_FIT}.{source}")
        for name, formula, source in (
            ("medians", "median of the rounds", "fit_rounds"),
            ("low", "lower quartile of the rounds", "fit_rounds"),
            ("high", "upper quartile of the rounds", "fit_rounds"),
            ("asked", "median and quartiles of the rounds", "fit_rounds"),
            ("predicted", "what both fits say, and their quartiles over rounds", "Fit.at"),
        )
    },
    "timed.off": About("what a fit says / what was measured − 1", f"{_FIT}.Fit.at"),
    "timed.rates": About("operations of a pass / its median", f"{_SIZES}.pass_operations"),
    "timed.rate": About("1 / seconds an operation adds", f"{_FIT}.fitted"),
    **{
        f"timed.{name}{what}": About(f"{text} of {terms}", f"{_FIT}.{source}")
        for name, terms in (("length", "a + b n + c n²"), ("work", "a + operations / rate"))
        for what, text, source in (
            ("", "least relative squares, in ms,", "Fit.at"),
            ("_low", "lower quartile over rounds, in ms,", "Fit.between"),
            ("_high", "upper quartile over rounds, in ms,", "Fit.between"),
            ("_terms", "the numbers", "fitted"),
            ("_explained", "R²", "explained"),
        )
    },
}
