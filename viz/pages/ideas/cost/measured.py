"""What the sizes predict of the model above, beside what its file, torch and the clock say."""

from functools import partial

from model.analysis.cost_fit import Array, Measured
from model.analysis.seen import Seen
from model.analysis.sizes import Shape, parameters, pass_operations
from viz.digits import digits
from viz.figures.cache import bytes_text
from viz.figures.cost import BY_LENGTH, BY_WORK, pass_times
from viz.formulas import FORMULAS
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
    begin, summed_up = partial(measure_passes, *made_with), partial(Measured.of, shape, asked)
    passes = measured_when_asked(MEASURING, made_with, begin, summed_up)
    if passes is None:
        return {}
    _figure(passes)
    _forecast(passes)
    _by_length(passes)
    inspector.formula("model.analysis.cost_fit.fit_rounds", FORMULAS["Time by length"])
    _memory(passes)
    _check_counted(passes)
    inspector.source(
        "model.analysis.cost_timing.time_passes",
        "model.analysis.cost_timing.counted",
        "model.analysis.cost_timing.Alive",
        "model.analysis.cost_fit.fit_rounds",
    )
    return {"Counted": lambda: _counted_csv(passes)}


# --- the file ---------------------------------------------------------------------------------


def _file(view: View, shape: Shape | Seen) -> None:
    """Weights and bytes from the sizes, beside those of the file and of memory."""
    total, file = sum(parameters(shape).values()), counting.stored(view.handle)
    is_seen = isinstance(shape, Seen)  # its file may have more, as a buffer, or a tied matrix twice
    per_number = 0 if is_seen else counting.BYTES.get(file.kind, 0)
    predicted = "in its parts" if is_seen else "from the sizes"
    in_file = f"bytes of the file’s tensors ({file.kind or 'of several kinds'})"
    if per_number:
        in_file = f"bytes in the file, {per_number} each ({file.kind})"
    size = file.each_in_memory
    in_memory = f"bytes in memory, {size} each ({file.kind_in_memory})"
    words.table(
        {
            "": ["weights", in_file, in_memory],
            predicted: [
                f"{total:,}",
                f"{total * per_number:,}" if per_number else "–",
                f"{total * size:,}",
            ],
            "counted": [f"{n:,}" for n in (file.numbers, file.bytes, file.in_memory)],
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


def _figure(passes: Measured) -> None:
    rounds = {n: [IN_MS * t for t in times] for n, times in passes.rounds.items()}
    curves: dict[str, Array] = dict(
        zip((BY_LENGTH, BY_WORK), passes.curves(passes.places), strict=True)
    )
    chart = pass_times(rounds, passes.places, curves, passes.predicted)
    layout.show_chart(chart, key="pass-times")
    say_disturbed(passes.spread)


def _in_ms(value: float, places: int = 2) -> str:
    return digits(IN_MS * value, places)


def _added(value: float, places: int) -> str:
    """A further term of a sum of milliseconds, with its sign before it."""
    return f"{' − ' if value < 0 else ' + '}{_in_ms(abs(value), places)}"


def _forecast(passes: Measured) -> None:
    """Both fits, how well they fit, and what they say of the length that was left out."""
    predicted, (low, median, high) = passes.predicted, passes.quartiles[:, -1]
    asked = passes.lengths[-1]
    start, each, pair = passes.by_length.coefficients
    waiting, of_one = passes.by_work.coefficients
    by_length = f"{_in_ms(start, 3)} ms{_added(each, 4)} ms · n{_added(pair, 6)} ms · n²"
    rate = digits(GIGA / of_one, 2)
    by_work = f"{_in_ms(waiting, 3)} ms + operations / {rate} billion a second"
    columns = {
        f"{asked:,} tokens, left out": [BY_LENGTH, BY_WORK, "then measured"],
        "fit": [by_length, by_work, "–"],
        "R²": [digits(fit.r_squared) for fit in (passes.by_length, passes.by_work)] + ["–"],
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
        f"Medians of {len(passes.rounds[asked])} rounds. Bands and the middle half: quartiles of "
        "fits to single rounds."
    )


def _by_length(passes: Measured) -> None:
    """Operations and time at each length."""
    lengths, (low, median, high) = passes.lengths, passes.quartiles
    *others, asked = lengths
    columns: dict[str, list[Said]] = {
        "tokens": [*(f"{n:,}" for n in others), f"{asked:,}, left out"],
        "operations from the sizes": [f"{pass_operations(passes.shape, n):,}" for n in lengths],
        "torch’s counter": [f"{passes.counted[n].operations:,}" for n in lengths],
        "apart": [f"{digits(100 * passes.apart(n), 2)} %" for n in lengths],
        "ms": [digits(ms, 2) for ms in median],
        "middle half": [f"{digits(a, 2)} – {digits(b, 2)}" for a, b in zip(low, high, strict=True)],
        "billion operations a second": [digits(GIGA * rate, 2) for rate in passes.rates],
    }
    words.table(columns)


def _memory(passes: Measured) -> None:
    """The most bytes alive, and those of all maps, at each length."""
    layout.section(
        "Memory of a pass, measured",
        "The most bytes of tensors alive at once while one pass runs, weights aside.",
        "A tensor counts from the operation that makes it until its memory is given back; "
        "what an operation takes for itself and gives back before it ends is not seen. Kept maps "
        "grow with the square of the length; a pass that keeps none grows with the length alone.",
    )
    counted = sorted(passes.counted.items())
    words.table(
        {
            "tokens": [f"{n:,}" for n, _ in counted],
            "all maps, from the sizes": [bytes_text(passes.maps(n)) for n, _ in counted],
            "all maps, kept": [bytes_text(item.maps) for _, item in counted],
            "peak with all maps kept": [bytes_text(item.peak_with_maps) for _, item in counted],
            "peak as it runs": [bytes_text(item.peak) for _, item in counted],
        }
    )


def _check_counted(passes: Measured) -> None:
    worst = max(passes.apart(n) for n in passes.counted)
    inspector.check(
        worst <= ALLOWED,
        f"operations from the sizes against torch’s counter at {len(passes.counted)} lengths: at "
        f"most {worst:.2%} apart (allowed 5 %).",
    )
    inspector.check(
        all(item.maps == passes.maps(n) for n, item in passes.counted.items()),
        "bytes of all maps from the sizes = bytes of those a pass kept, at every length.",
    )


def _counted_csv(passes: Measured) -> bytes:
    lengths, counted = zip(*sorted(passes.counted.items()), strict=True)
    return tables.csv(
        {
            "tokens": lengths,
            "operations from the sizes": [pass_operations(passes.shape, n) for n in lengths],
            "operations by torch": [item.operations for item in counted],
            "peak (bytes)": [item.peak for item in counted],
            "peak with maps (bytes)": [item.peak_with_maps for item in counted],
            "maps (bytes)": [item.maps for item in counted],
        }
    )
