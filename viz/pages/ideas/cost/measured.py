"""What the sizes predict of the model above, beside what its file, torch and the clock say."""

from functools import partial

import numpy as np

from model.analysis.cost_measured import Measured
from model.analysis.seen import Seen
from model.analysis.sizes import Shape, parameters, pass_operations
from viz import formulas_cost as formulas
from viz.digits import digits
from viz.figures.cache import bytes_text
from viz.figures.cost import BY_LENGTH, BY_WORK, Forecast, pass_times
from viz.frame import controls, inspector, layout, settings, tables, words
from viz.frame.measured import measured_when_asked, say_disturbed
from viz.frame.said import Said
from viz.frame.view import View
from viz.runs import counting
from viz.runs.measuring import measure_passes

MEASURING = "measuring-passes"  # of this visitor
ALLOWED = 0.05  # of operations against torch's counter
GIGA, IN_MS = 1e-9, 1000.0


def section(view: View, shape: Shape | Seen) -> inspector.Tables:
    """The file and the clock; gives back what can be downloaded."""
    if isinstance(shape, Seen):
        title = "File and memory"
        layout.section(title, f"The weights in the parts of {view.called} against those it holds.")
        _file(view, shape)
        return {}
    layout.section(
        "Predicted and measured",
        f"The sizes of {view.called} against its file, torch’s own counter and the clock.",
        "A button times whole forward passes at several lengths, round after round, on one CPU "
        "thread where there is no GPU: a translation of a source and a target of equal length, a "
        "picture of fewer patches. One length is left out. Two fits are made of the others: one of "
        "powers of the length, one of operations at a constant rate. What they say of the length "
        "that was left out is compared with what the clock then says. While a pass is counted "
        "(torch.utils.flop_counter), all maps of attention are kept, since torch counts none of "
        "fused attention on a CPU; passes are timed as they run.",
    )
    _file(view, shape)
    lengths = counting.lengths(view.handle)
    with layout.slim_row("left-out"):
        left_out = settings.LEFT_OUT.given(options=lengths, default=lengths[-1])
        asked = controls.select(left_out, width=120)
    made_with = (view.handle, asked)
    begin, summed_up = partial(measure_passes, *made_with), partial(Measured.of, shape)
    found = measured_when_asked(MEASURING, made_with, begin, summed_up)
    if found is None:
        return {}
    _figure(found)
    _forecast(found)
    _by_length(found)
    formula = formulas.TIMES
    inspector.formula("model.analysis.cost_fit.fit_rounds", formula.latex, formula.reference)
    _memory(found)
    _check_counted(found)
    inspector.source(
        "model.analysis.cost_timing.time_passes",
        "model.analysis.cost_timing.counted",
        "model.analysis.cost_timing.Alive",
        "model.analysis.cost_fit.fitted",
        "model.analysis.cost_fit.fit_rounds",
    )
    return {"Counted": lambda: _counted_csv(found)}


# --- the file ---------------------------------------------------------------------------------


def _file(view: View, shape: Shape | Seen) -> None:
    """Weights and bytes from the sizes, beside those of the file and of memory."""
    total, file = sum(parameters(shape).values()), counting.stored(view.handle)
    is_seen = isinstance(shape, Seen)  # its file may have more, as a buffer, or a tied matrix twice
    per_number = 0 if is_seen else counting.BYTES.get(file.kind, 0)
    predicted = "in its parts" if is_seen else "from the sizes"
    rows: list[tuple[str, str, Said]] = [
        ("weights", f"{total:,}", f"{file.numbers:,}"),
    ]
    if per_number:
        name = f"bytes in the file, {per_number} each ({file.kind})"
        stored = f"{file.bytes:,}"
        rows.append((name, f"{total * per_number:,}", stored))
    else:
        rows.append(
            (
                f"bytes of the file’s tensors ({file.kind or 'of several kinds'})",
                "–",
                f"{file.bytes:,}",
            )
        )
    size = file.each_in_memory
    name = f"bytes in memory, {size} each ({file.kind_in_memory})"
    rows.append((name, f"{total * size:,}", f"{file.in_memory:,}"))
    words.table(
        {
            "": [name for name, _, _ in rows],
            predicted: [number for _, number, _ in rows],
            "counted": [counted for _, _, counted in rows],
        }
    )
    inspector.check(
        (total == file.numbers or is_seen) and total * size == file.in_memory,
        f"weights {predicted}, {total:,}; numbers in the file, {file.numbers:,}; in memory "
        f"{file.in_memory:,} bytes.",
    )
    if per_number:
        inspector.check(
            total * per_number == file.bytes,
            f"bytes from the sizes, {total * per_number:,} = bytes of the file’s tensors, "
            f"{file.bytes:,}.",
        )


# --- the clock --------------------------------------------------------------------------------


def _figure(found: Measured) -> None:
    places = found.places
    curves = {
        name: 1000 * np.stack([fit.at(terms), *fit.between(terms)])
        for name, fit, terms in zip(
            (BY_LENGTH, BY_WORK), found.fits, found.terms(places), strict=True
        )
    }
    quartiles, predicted = found.quartiles, found.predicted
    median, again = float(quartiles[1, -1]), [1000 * t for t in found.again]
    forecast = Forecast(found.asked, predicted, median, again)
    chart = pass_times(found.rounds, quartiles[1, :-1], places, curves, forecast)
    layout.show_chart(chart, key="pass-times")
    say_disturbed(found.spread)


def _in_ms(value: float, places: int = 2) -> str:
    return digits(IN_MS * value, places)


def _added(value: float, places: int) -> str:
    """A further term of a sum of milliseconds, with its sign before it."""
    return f"{' − ' if value < 0 else ' + '}{_in_ms(abs(value), places)}"


def _forecast(found: Measured) -> None:
    """Both fits, how well they fit, and what they say of the length that was left out."""
    predicted, (low, median, high) = found.predicted, found.quartiles[:, -1]
    start, each, pair = found.by_length.coefficients
    waiting, of_one = found.by_work.coefficients
    by_length = f"{_in_ms(start, 3)} ms{_added(each, 4)} ms · n{_added(pair, 6)} ms · n²"
    rate = digits(GIGA / of_one, 2)
    by_work = f"{_in_ms(waiting, 3)} ms + operations / {rate} billion a second"
    columns = {
        f"{found.asked:,} tokens, left out": [BY_LENGTH, BY_WORK, "then measured"],
        "fit": [by_length, by_work, "–"],
        "R²": [digits(fit.r_squared) for fit in (found.by_length, found.by_work)] + ["–"],
        "ms": [digits(row[0], 2) for row in predicted] + [digits(median, 2)],
        "middle half": [
            *(f"{digits(row[1], 2)} – {digits(row[2], 2)}" for row in predicted),
            f"{digits(low, 2)} – {digits(high, 2)}",
        ],
        "off by": [
            *(f"{digits(100 * (row[0] / median - 1), 1)} %" for row in predicted),
            "–",
        ],
    }
    words.table(columns, texts=("fit",))
    words.caption(
        f"Medians of {len(found.again)} rounds. Bands and the middle half: quartiles of fits to "
        "single rounds."
    )


def _by_length(found: Measured) -> None:
    """Operations and time at each length."""
    lengths, (low, median, high) = found.lengths, found.quartiles
    columns: dict[str, list[Said]] = {
        "tokens": [*(f"{n:,}" for n in found.rounds), f"{found.asked:,}, left out"],
        "operations from the sizes": [f"{pass_operations(found.shape, n):,}" for n in lengths],
        "torch’s counter": [f"{found.counted[n].operations:,}" for n in lengths],
        "apart": [f"{digits(100 * found.apart(n), 2)} %" for n in lengths],
        "ms": [digits(ms, 2) for ms in median],
        "middle half": [f"{digits(a, 2)} – {digits(b, 2)}" for a, b in zip(low, high, strict=True)],
        "billion operations a second": [digits(GIGA * rate, 2) for rate in found.rates],
    }
    words.table(columns)


def _memory(found: Measured) -> None:
    """The most bytes alive, and those of all maps, at each length."""
    layout.section(
        "Memory of a pass, measured",
        "The most bytes of tensors alive at once while one pass runs, weights aside.",
        "A tensor counts from the operation that makes it until its memory is given back; "
        "what an operation takes for itself and gives back before it ends is not seen. Kept maps "
        "grow with the square of the length; a pass that keeps none grows with the length alone.",
    )
    counted = sorted(found.counted.items())
    words.table(
        {
            "tokens": [f"{n:,}" for n, _ in counted],
            "all maps, from the sizes": [bytes_text(found.maps(n)) for n, _ in counted],
            "all maps, kept": [bytes_text(item.maps) for _, item in counted],
            "peak with all maps kept": [bytes_text(item.peak_with_maps) for _, item in counted],
            "peak as it runs": [bytes_text(item.peak) for _, item in counted],
        }
    )


def _check_counted(found: Measured) -> None:
    worst = max(found.apart(n) for n in found.counted)
    inspector.check(
        worst <= ALLOWED,
        f"operations from the sizes against torch’s counter at {len(found.counted)} lengths: at "
        f"most {worst:.2%} apart (allowed 5 %).",
    )
    inspector.check(
        all(item.maps == found.maps(n) for n, item in found.counted.items()),
        "bytes of all maps from the sizes = bytes of those a pass kept, at every length.",
    )


def _counted_csv(found: Measured) -> bytes:
    rows = [
        {
            "tokens": n,
            "operations from the sizes": pass_operations(found.shape, n),
            "operations by torch": item.operations,
            "peak (bytes)": item.peak,
            "peak with maps (bytes)": item.peak_with_maps,
            "maps (bytes)": item.maps,
        }
        for n, item in sorted(found.counted.items())
    ]
    return tables.csv(rows)
