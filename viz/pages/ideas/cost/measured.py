"""What the sizes predict of the model above, beside what its file, torch and the clock say."""

from collections.abc import Callable
from functools import partial

from model.analysis.cost_measured import Measured
from model.analysis.sizes import Shape, parameters, pass_operations
from viz import formulas_cost as formulas
from viz.digits import digits
from viz.figures.cache import bytes_text
from viz.figures.cost_times import BY_LENGTH, BY_WORK, Curve, Forecast, pass_times
from viz.frame import controls, inspector, layout, memory, notices, screen, settings, tables, words
from viz.frame.measured import UNSTEADY, measured_when_asked
from viz.frame.numbers import Number, Said, count, number
from viz.frame.view import View
from viz.runs import Compared, counting
from viz.runs.measuring import measure_passes

MEASURING, FITTED = "measuring-passes", "fitted-passes"  # of this visitor
ALLOWED = 0.05  # of operations against torch's counter
GIGA, IN_MS = 1e-9, 1000.0


def section(view: View, shape: Shape) -> inspector.Tables:
    """The file and the clock; gives back what can be downloaded."""
    layout.section(
        "Predicted and measured",
        f"The sizes of {view.model} against its file, torch’s own counter and the clock.",
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
    notices.show()
    made_with = (view.handle, asked)
    running = measured_when_asked(MEASURING, made_with, lambda: measure_passes(view.handle, asked))
    if running is None:
        return {}
    found = Measured.of(shape, running.timings)
    if found is None:
        words.notice("Stopped before the length left out was timed; there is nothing to compare.")
        return {}
    compared = _compared(view, found)
    _figure(view, found, compared)
    _forecast(found, compared)
    _by_length(view, found, compared)
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
    return {"Times": lambda: _times_csv(found), "Counted": lambda: _counted_csv(found)}


# --- the file ---------------------------------------------------------------------------------


def _file(view: View, shape: Shape) -> None:
    """Weights and bytes from the sizes, beside those of the file and of memory."""
    total, file = sum(parameters(shape).values()), counting.stored(view.handle)
    per_number = counting.BYTES.get(file.kind, 0)
    run = view.run
    rows: list[tuple[str, str, Said]] = [
        ("weights", f"{total:,}", count(run, "running.parameters[6]", file.numbers)),
    ]
    if per_number:
        name = f"bytes in the file, {per_number} each ({file.kind})"
        stored = count(run, "running.bytes", file.bytes)
        rows.append((name, f"{total * per_number:,}", stored))
    size = file.in_memory // max(1, file.numbers)
    name = f"bytes in memory, {size} each ({file.kind_in_memory})"
    rows.append((name, f"{total * size:,}", f"{file.in_memory:,}"))
    words.table(
        {
            "": [name for name, _, _ in rows],
            "from the sizes": [predicted for _, predicted, _ in rows],
            "counted": [counted for _, _, counted in rows],
        }
    )
    inspector.check(
        total == file.numbers and total * size == file.in_memory,
        f"weights from the sizes, {total:,} = numbers in the file, {file.numbers:,}; in memory "
        f"{file.in_memory:,} bytes.",
    )
    if per_number:
        inspector.check(
            total * per_number == file.bytes,
            f"bytes from the sizes, {total * per_number:,} = bytes of the file’s tensors, "
            f"{file.bytes:,}.",
        )


# --- the clock --------------------------------------------------------------------------------


def _compared(view: View, found: Measured) -> Compared | None:
    """What browsers compare with: the fits of these times, made once more; kept with them."""
    made_with = (view.run.key, found.asked, tuple(found.again))
    kept = memory.remembered(FITTED, made_with)
    if kept is None:
        again = (found.asked, found.again)
        kept = counting.independent_times(view.run, view.handle, found.rounds, again, found.places)
        memory.remember(FITTED, made_with, kept)
    return kept


def _figure(view: View, found: Measured, compared: Compared | None) -> None:
    places = found.places
    curves = [
        Curve(name, 1000 * fit.at(terms), *(1000 * fit.between(terms)))
        for name, fit, terms in zip(
            (BY_LENGTH, BY_WORK), found.fits, found.terms(places), strict=True
        )
    ]
    quartiles, predicted = found.quartiles, found.predicted
    median, again = float(quartiles[1, -1]), [1000 * t for t in found.again]
    layout.show_figure(
        pass_times(
            found.rounds,
            quartiles[1, :-1],
            places,
            curves,
            Forecast(found.asked, predicted, median, again),
            view.colors,
        ),
        key="pass-times",
        alt=f"Milliseconds of one pass by its tokens: from {digits(quartiles[1, 0], 2)} at "
        f"{found.lengths[0]} to {digits(quartiles[1, -2], 2)} at {found.lengths[-2]}. At "
        f"{found.asked} the fits say {digits(predicted[0, 0], 2)} and {digits(predicted[1, 0], 2)};"
        f" measured: {digits(median, 2)}.",
        origin=screen.origin(
            compared,
            {
                **{
                    (3 * i + at, "y"): f"timed.{name}{what}"
                    for i, name in enumerate(("length", "work"))
                    for at, what in enumerate(("_low", "_high", ""))
                },
                (7, "y"): "timed.medians",
                (8, "y"): "timed.predicted[:,0]",
                (9, "y"): "timed.asked[0:1]",
            },
        )
        if compared is not None
        else (),
    )
    if found.spread > UNSTEADY:
        words.notice(
            "Other work disturbed this measurement: half of the times of one length lie a factor "
            f"of {digits(found.spread, 1)} apart. Measure again when the machine is quiet.",
            kind="hint",
        )


def _said(
    compared: Compared | None, name: str, value: float, places: int = 2, times: float = 1.0
) -> str | Number:
    """A number made of the times, and where they are fitted once more."""
    text = digits(times * value, places)
    return text if compared is None else number(compared, f"timed.{name}", value, text, times)


def added(
    said: Callable[..., str | Number], name: str, value: float, places: int
) -> tuple[str, str | Number]:
    """A further term of a sum of milliseconds, with its sign before it."""
    sign, times = (" − ", -IN_MS) if value < 0 else (" + ", IN_MS)
    return sign, said(name, value, places, times)


def _forecast(found: Measured, compared: Compared | None) -> None:
    """Both fits, how well they fit, and what they say of the length that was left out."""
    said = partial(_said, compared)
    predicted, (low, median, high) = found.predicted, found.quartiles[:, -1]
    start, each, pair = found.by_length.coefficients
    waiting, of_one = found.by_work.coefficients
    by_length: Said = [
        *(said("length_terms[0]", start, 3, IN_MS), " ms"),
        *(*added(said, "length_terms[1]", each, 4), " ms · n"),
        *(*added(said, "length_terms[2]", pair, 6), " ms · n²"),
    ]
    by_work: Said = [
        *(said("work_terms[0]", waiting, 3, IN_MS), " ms + operations / "),
        *(said("rate", 1 / of_one, 2, GIGA), " billion a second"),
    ]
    columns: dict[str, list[Said]] = {
        f"{found.asked:,} tokens, left out": [BY_LENGTH, BY_WORK, "then measured"],
        "fit": [by_length, by_work, "–"],
        "R²": [
            said("length_explained", found.by_length.r_squared, 4),
            said("work_explained", found.by_work.r_squared, 4),
            "–",
        ],
        "ms": [
            *(said(f"predicted[{i},0]", row[0]) for i, row in enumerate(predicted)),
            said("asked[0]", median),
        ],
        "middle half": [
            *(
                [said(f"predicted[{i},1]", row[1]), " – ", said(f"predicted[{i},2]", row[2])]
                for i, row in enumerate(predicted)
            ),
            [said("asked[1]", low), " – ", said("asked[2]", high)],
        ],
        "off by": [
            *(
                [said(f"off[{i}]", row[0] / median - 1, 1, 100.0), " %"]
                for i, row in enumerate(predicted)
            ),
            "–",
        ],
    }
    words.table(columns, texts=("fit",))
    words.caption(
        f"Medians of {len(found.again)} rounds. Bands and the middle half: quartiles of fits to "
        "single rounds. No second run takes the same times, so they cannot be checked; what is "
        "made of them is made once more, independently, from the points shown."
    )


def _by_length(view: View, found: Measured, compared: Compared | None) -> None:
    """Operations and time at each length."""
    said = partial(_said, compared)
    lengths, low_median_high = found.lengths, found.quartiles
    n_fitted = len(found.rounds)
    names = [
        *((f"low[{at}]", f"medians[{at}]", f"high[{at}]") for at in range(n_fitted)),
        ("asked[1]", "asked[0]", "asked[2]"),
    ]
    columns: dict[str, list[Said]] = {
        "tokens": [*(f"{n:,}" for n in found.rounds), f"{found.asked:,}, left out"],
        "operations from the sizes": [
            count(view.run, f"running.pass.{n}", pass_operations(found.shape, n)) for n in lengths
        ],
        "torch’s counter": [f"{found.counted[n].operations:,}" for n in lengths],
        "apart": [f"{digits(100 * found.apart(n), 2)} %" for n in lengths],
        "ms": [said(name[1], low_median_high[1, at]) for at, name in enumerate(names)],
        "middle half": [
            [said(name[0], low_median_high[0, at]), " – ", said(name[2], low_median_high[2, at])]
            for at, name in enumerate(names)
        ],
        "billion operations a second": [
            said(f"rates[{at}]", rate, 2, GIGA) for at, rate in enumerate(found.rates)
        ],
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


def _times_csv(found: Measured) -> bytes:
    rows = [
        {"tokens": n, "round": number, "ms": 1000 * seconds, "left out": n == found.asked}
        for n, times in [*found.rounds.items(), (found.asked, found.again)]
        for number, seconds in enumerate(times)
    ]
    return tables.frame_csv(tables.frame(rows))


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
    return tables.frame_csv(tables.frame(rows))
