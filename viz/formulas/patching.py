"""The numbers of patching, and of what edges and tokens are worth."""

from viz.digits import digits


def patched_with_numbers(base: float, source: float, patched: float) -> str:
    """The share of one cell."""
    low, high, found = (digits(x, 4) for x in (base, source, patched))
    share = digits((patched - base) / (source - base), 4)
    return rf"\frac{{{found} - ({low})}}{{{high} - ({low})}} = {share}"


def removed_with_numbers(whole: float, effect: float) -> str:
    """The effect of one edge."""
    return rf"{digits(whole, 4)} - ({digits(whole - effect, 4)}) = {digits(effect, 4)}"


def complete_with_numbers(total: float, value: float, baseline: float) -> str:
    """What the attributions sum to, and what they should."""
    return (
        rf"{digits(total, 4)} \approx {digits(value, 4)} - ({digits(baseline, 4)})"
        rf" = {digits(value - baseline, 4)}"
    )
