"""Protects the picture of a circuit: its lines are edges, and a click says what one does."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model.analysis.paths.circuit import Circuit
from model.analysis.paths.kept import on_ways
from model.analysis.paths.terms import KEY, KIND, LAYER, QUERY, WRITER
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.parts.made import circuit, found_circuit
from viz.digits import digits
from viz.kit.part import Part
from viz.kit.parts.circuit import circuit_part
from viz.theme import LIGHT

N_HEADS = 3


def drawn(gallery: Gallery, part: Part, **changes: object) -> dict[str, Any]:
    """A new picture, and what is on screen."""
    gallery.show(part, 1200, **changes)
    return gallery.read()


def part_of(found: Circuit, **settings: object) -> Part:
    """The same of another circuit of these texts."""
    first, second, _ = found_circuit()
    return circuit_part(first, second.tokens, found, " t{}".format, settings)


def names(edge: list[int]) -> tuple[str, str]:
    """Who writes and who reads, as the browser calls them."""
    layer, part = divmod(edge[WRITER] - 1, N_HEADS + 1)
    kind, place = ("MLP", f"{layer}.0") if part == N_HEADS else ("head", f"{layer}.{part}")
    writer = f"{kind} {place}@{edge[KEY]}" if edge[WRITER] else f"embedding -1.0@{edge[KEY]}"
    reader = ("head", "head", "head", "MLP", "answer")[edge[KIND]]
    return writer, f"{reader} {edge[LAYER]}.{edge[2]}@{edge[QUERY]}"


def drawn_of(shown: dict[str, Any]) -> dict[tuple[str, str, int], list[float]]:
    """Effects of the edges of each line."""
    return {
        (line["from"], line["to"], line["kind"]): [edge["effect"] for edge in line["edges"]]
        for line in shown["lines"]
    }


@pytest.mark.parametrize("k", [12, 100])
def test_a_line_is_an_edge_of_the_strongest(k: int, gallery: Gallery) -> None:
    """No two are alike here but those within a chain of MLPs, which is one part."""
    _, _, found = found_circuit()
    shown = drawn(gallery, circuit(edges=k))
    k = max(size for size in found.curve.sizes if size <= k)
    assert shown["number"] == str(k)
    heads = {f"L{one[5]} H{one[7]}" for one in shown["nodes"] if one.startswith("head")}
    assert {name for name in shown["names"] if name.startswith("L")} <= heads
    edges, effects = found.strongest.edges[:k].tolist(), found.strongest.exact
    whole = on_ways(found.all.edges[:k], N_HEADS)
    n_drawn, folded = 0, {name for name in shown["nodes"] if "-" in name.split("@")[0][4:]}
    for line in shown["lines"]:
        for edge in line["edges"]:
            alike = np.flatnonzero(np.abs(effects[:k] - edge["effect"]) < 1e-6)
            of = next(i for i in alike if edges[i][KIND] == line["kind"])
            assert edge["isExact"] and edge["isWhole"] == whole[of]
            for end, name in zip(("from", "to"), names(edges[of]), strict=True):
                assert line[end] == name or line[end] in folded
            n_drawn += 1
    assert n_drawn == k - sum(
        a.startswith("MLP") and b.startswith("MLP") and (a, b, 3) not in drawn_of(shown)
        for a, b in map(names, edges)
    )


def test_colours_and_dashes_mean_what_the_legend_says(gallery: Gallery) -> None:
    lines = drawn(gallery, circuit(edges=100))["lines"]
    assert all(line["isFor"] == (line["edges"][0]["effect"] >= 0) for line in lines)
    shown = gallery.evaluate("""() => [...instrument.picture.querySelectorAll('g > path + path')]
        .map(line => [line.nextSibling.textContent,
            ...['stroke', 'stroke-dasharray'].map(x => line.getAttribute(x))])""")
    colours = {False: LIGHT.diverging[5], True: LIGHT.diverging[1]}
    assert {stroke for _, stroke, _ in shown} == {*colours.values()}
    for title, stroke, dashes in shown:
        assert stroke == colours["−" in title]
        reader = title.partition(" → ")[2]
        assert dashes == {"q": "1 5", "k": "7 4"}.get(reader[0] if reader[1:4] == " of" else "")
    legend = gallery.evaluate("""() => [...instrument.legend.children].map(
        one => [one.textContent, ...['stroke', 'stroke-dasharray'].map(
            x => one.querySelector('line').getAttribute(x))])""")
    assert legend == [
        ["for the answer", LIGHT.diverging[5], None],
        ["against it", LIGHT.diverging[1], None],
        ["read as q", LIGHT.muted, "1 5"],
        ["read as k", LIGHT.muted, "7 4"],
        ["as v, by an MLP or the answer", LIGHT.muted, None],
    ]


def chain(*edges: list[int]) -> Part:
    """These edges alone, of three layers."""
    of = circuit(edges=100)
    about = of.shared["strongest_edges"].array[: len(edges), 6:]
    arrays = {**of.arrays, "strongest_edges": np.column_stack([edges, about])}
    return replace(of, spec={**of.spec, "n_layers": 3}, arrays=arrays)


def test_a_chain_is_one_part_until_it_is_unfolded(gallery: Gallery) -> None:
    """Of three MLPs at one token the first two: a head stands before the third."""
    edges = [[0, 3, 0, 2, 2, 0], [1, 3, 0, 2, 2, 4], [2, 1, 0, 2, 2, 8], [2, 3, 0, 2, 2, 9]]
    edges += [[3, 4, 0, 2, 2, 12], [3, 4, 0, 2, 2, 4]]
    shown = drawn(gallery, chain(*edges))
    name = "MLP 0-1@2"
    assert [one for one in shown["nodes"] if one.startswith("MLP")] == [name, "MLP 2.0@2"]
    assert (name, name) not in {(line["from"], line["to"]) for line in shown["lines"]}
    assert "MLP 0–1" in shown["names"]
    assert "“t4” → MLP 0 → answer" in [way["words"] for way in shown["ways"]]
    assert shown["fold"] is None
    gallery.locator(f"[data-node='{name}'] rect").click()
    unfolded = gallery.read()
    assert {"MLP 0.0@2", "MLP 1.0@2"} <= {*unfolded["nodes"]}
    assert ("MLP 0.0@2", "MLP 1.0@2", 3) in drawn_of(unfolded)
    gallery.get_by_role("button", name=unfolded["fold"]).click()
    assert gallery.read() == shown


def test_thirty_layers_are_in_sight_whole(gallery: Gallery) -> None:
    """A head in each layer at one token: none lies outside, and none covers its neighbour."""
    head = [1 + layer * (N_HEADS + 1) for layer in range(30)]
    edges = [[0, 2, 0, 2, 2, 0], *([i, 2, 0, 2, 2, head[i - 1]] for i in range(1, 30))]
    of = chain(*edges, [30, 4, 0, 2, 2, head[-1]])
    shown = drawn(gallery, replace(of, spec={**of.spec, "n_layers": 30}))
    assert sum(one.startswith("head") for one in shown["nodes"]) == 30
    high, *circles = gallery.evaluate("""() => [instrument.picture.getBoundingClientRect().height,
        ...[...instrument.picture.querySelectorAll("[data-node^=head] circle")].map(
            one => ["cy", "r"].map(x => Number(one.getAttribute(x))))]""")
    assert high <= 600
    middles = sorted(y for y, _ in circles)
    most = max(r for _, r in circles)
    assert most < middles[0] and middles[-1] < high - most
    assert most < 0.6 * min(np.diff(middles))


def test_on_a_phone_parts_have_their_names_and_the_answer_is_in_sight(gallery: Gallery) -> None:
    wide = drawn(gallery, circuit(edges=20))["names"]
    gallery.show(circuit(edges=20), 358)
    assert sorted(gallery.read()["names"]) == sorted(wide)
    host = "document.querySelector('.hl-circuit-host')"
    assert gallery.evaluate(f"{host}.scrollWidth - {host}.clientWidth - {host}.scrollLeft") <= 1


def test_a_chain_that_leaves_out_a_layer_names_its_mlps(gallery: Gallery) -> None:
    edges = [[0, 3, 0, 2, 2, 0], [2, 3, 0, 2, 2, 4], [3, 4, 0, 2, 2, 12]]
    assert "MLP 0, 2" in drawn(gallery, chain(*edges))["names"]


def test_an_edge_says_its_effect_its_cell_and_what_is_likely_without_it(gallery: Gallery) -> None:
    first, _, found = found_circuit()
    edges = found.strongest.edges.tolist()
    number = next(i for i, edge in enumerate(edges) if edge[KIND] in (1, 2))
    layer, _, head, query, key, _ = edges[number]
    panel = drawn(gallery, circuit(edges=300, edge=".".join(map(str, edges[number]))))["chosen"]
    lost, of = found.strongest.exact[number], found.paths.whole
    verb = "rises" if lost < 0 else "falls"
    said = f"{verb} by {digits(abs(lost), 3)}, from {digits(of, 3)} to {digits(of - lost, 3)}."
    assert panel["says"] == f"Without it the logit difference {said}"
    weight = float(first.attention[layer].pattern[head, query, key])
    cell = f"attends to “{first.tokens[key].strip()}” by {digits(weight, 3)}."
    assert panel["mapTitle"].endswith(cell)
    cut = found.strongest.cuts[number]
    rows = panel["bars"]["rows"]
    assert [row["label"] for row in rows] == [f" t{i}" for i in cut.ids]
    assert [row["after"] for row in rows] == pytest.approx(cut.after, abs=1e-5)
    assert panel["map"]["marked"][:2] == [query, key]
    assert panel["map"]["values"][query][key] == pytest.approx(weight, abs=1e-6)
    assert panel["map"]["values"][0][1] is None, "it is masked"


def test_what_is_chosen_is_told_and_stays_while_more_comes_in(gallery: Gallery) -> None:
    _, _, found = found_circuit()
    gallery.show(circuit(edges=20), 1200)
    largest = int(np.abs(found.strongest.exact[:18]).argmax())
    chosen = gallery.get_by_label("Edges, the strongest first").get_by_role("button").first
    chosen.click()
    edge = ".".join(map(str, found.strongest.edges[largest].tolist()))
    assert gallery.sent() == {"edge": edge}
    gallery.receive(circuit(edges=20))
    assert [row["isChosen"] for row in gallery.read()["edges"]].count(True) == 1
    chosen.click()
    assert gallery.read()["chosen"] is None
    sizes, shares = found.curve.sizes, found.curve.shares
    at = next(i for i in range(1, len(sizes)) if abs(shares[i] - shares[i + 1]) > 0.05)
    gallery.get_by_role("slider").fill(str(at))
    shown = gallery.read()
    assert shown["number"] == str(sizes[at])
    assert f"F = {digits(shares[at], 2)} of" in shown["says"]


def test_a_part_says_what_it_reads_and_writes(gallery: Gallery) -> None:
    _, _, found = found_circuit()
    shown = drawn(gallery, circuit(edges=300))
    (answer,) = [name for name in shown["nodes"] if name.startswith("answer")]
    gallery.evaluate("id => instrument.pick(id)", answer)
    into = found.strongest.edges[:, KIND] == 4
    strongest = np.abs(found.strongest.exact[into]).max()
    chosen = gallery.read()["chosen"]
    assert (chosen["title"], chosen["lists"]) == ("answer", ["It reads"])
    assert digits(strongest, 2) in chosen["edges"][0]["number"]


def test_what_comes_in_is_drawn_as_far_as_it_is(gallery: Gallery) -> None:
    """First the edges into the answer alone; then pale ones; of the curve nothing yet."""
    begun = Circuit(found_circuit()[2].paths)
    shown = drawn(gallery, part_of(begun))
    assert {line["kind"] for line in shown["lines"]} == {4}
    assert not any(edge["isExact"] for line in shown["lines"] for edge in line["edges"])
    assert "pale: estimated so far" in shown["legend"]
    assert shown["edges"][0]["number"].startswith("≈")
    assert shown["number"] is None
    begun.finish()
    gallery.receive(part_of(begun))
    shown = gallery.read()
    assert int(shown["number"]) in begun.curve.sizes
    assert "pale" not in shown["legend"]


def test_a_pruned_circuit_is_shown_where_there_is_one(gallery: Gallery) -> None:
    found = Circuit(found_circuit()[2].paths)
    found.finish()
    found.prune()
    found.finish()
    shown = drawn(gallery, part_of(found, which="pruned"))
    n = sum(len(line["edges"]) for line in shown["lines"])
    assert n <= len(found.pruned.edges)
    assert shown["which"] == f"after removal: {len(found.pruned.edges)} left"
    assert f"F = {digits(found.share or 0, 2)} of" in shown["says"]
    gallery.get_by_label("strongest", exact=True).check(force=True)
    assert int(gallery.read()["number"]) < len(found.strongest.edges)
    assert gallery.sent()["which"] == "strongest"


def test_the_strongest_ways_are_those_whose_weakest_edge_is_strongest(gallery: Gallery) -> None:
    """All ways are found by going back from the answer through every edge."""
    _, _, found = found_circuit()
    shown = drawn(gallery, circuit(edges=60))
    k = int(shown["number"])
    edges, sizes = found.strongest.edges[:k].tolist(), np.abs(found.strongest.exact[:k])
    open_ways = [[i] for i in range(k) if edges[i][KIND] == 4]
    whole: list[list[int]] = []
    while open_ways:
        way = open_ways.pop()
        writer, _ = names(edges[way[0]])
        if writer.startswith("embedding"):
            whole.append(way)
        open_ways += [[i, *way] for i in range(k) if names(edges[i])[1] == writer]
    weakest = sorted((sizes[way].min() for way in whole), reverse=True)[:12]
    listed = [abs(float(way["number"].replace("−", "-"))) for way in shown["ways"]]
    assert len(listed) > 2
    assert listed == pytest.approx(weakest, abs=0.006)


def test_a_way_is_followed(gallery: Gallery) -> None:
    shown = drawn(gallery, circuit(edges=300))
    first = gallery.get_by_label("Strongest ways").get_by_role("button").first
    first.click()
    n = shown["ways"][0]["words"].count("→")
    followed = gallery.read()
    assert followed["ways"][0]["isChosen"]
    assert 0 < sum(line["isLit"] for line in followed["lines"]) <= n
    first.click()
    assert all(line["isLit"] for line in gallery.read()["lines"])
