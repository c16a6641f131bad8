"""Protects the picture of a circuit: its lines are edges, and a click says what one does."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.analysis.paths.circuit import Circuit
from model.analysis.paths.kept import on_ways
from model.analysis.paths.terms import KEY, KIND, LAYER, QUERY, WRITER
from tests.viz.harness import as_sent, open_instrument, receive
from tests.viz.kit.parts.made import circuit, found_circuit
from viz.digits import digits
from viz.kit.part import Part
from viz.kit.parts.circuit import circuit_part
from viz.theme import LIGHT

N_HEADS = 3


def opened(page: Page, part: Part, width: int = 1200) -> dict[str, Any]:
    """A new picture, and what is drawn in it."""
    open_instrument(page, as_sent(part), width)
    page.locator("[data-drawn$=' circuit']").wait_for()
    return page.evaluate("instrument.read()")


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
def test_a_line_is_an_edge_of_the_strongest(k: int, bare: Page) -> None:
    """No two are alike here but those within a chain of MLPs, which is one part."""
    _, _, found = found_circuit()
    shown = opened(bare, circuit(edges=k))
    k = max(size for size in found.curve.sizes if size <= k)
    assert shown["k"] == k
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


def test_colours_and_dashes_mean_what_the_legend_says(bare: Page) -> None:
    opened(bare, circuit(edges=100))
    shown = bare.evaluate("""() => [...document.querySelectorAll('.hl-edge')].map(edge => [
        edge.querySelector('title').textContent,
        ...['stroke', 'stroke-dasharray'].map(x => edge.children[1].getAttribute(x)),
    ])""")
    colours = {False: LIGHT.diverging[5], True: LIGHT.diverging[1]}
    assert {stroke for _, stroke, _ in shown} == {*colours.values()}
    for title, stroke, dashes in shown:
        assert stroke == colours["−" in title]
        reader = title.partition(" → ")[2]
        assert dashes == {"q": "1 5", "k": "7 4"}.get(reader[0] if reader[1:4] == " of" else "")
    legend = bare.evaluate("""() => [...document.querySelectorAll('.hl-circuit-legend span')].map(
        one => [one.textContent, ...['stroke', 'stroke-dasharray'].map(
            x => one.querySelector('line').getAttribute(x))])""")
    assert legend == [
        ["for the answer", LIGHT.diverging[5], None],
        ["against it", LIGHT.diverging[1], None],
        ["read as q", LIGHT.muted, "1 5"],
        ["read as k", LIGHT.muted, "7 4"],
        ["as v, by an MLP or the answer", LIGHT.muted, None],
    ]


def test_a_chain_is_one_part_until_it_is_unfolded(bare: Page) -> None:
    """Of three MLPs at one token the first two: a head stands before the third."""
    edges = [[0, 3, 0, 2, 2, 0], [1, 3, 0, 2, 2, 4], [2, 1, 0, 2, 2, 8], [2, 3, 0, 2, 2, 9]]
    edges += [[3, 4, 0, 2, 2, 12], [3, 4, 0, 2, 2, 4]]
    of = circuit().spec["strongest"]
    changed = {name: of[name][:6] for name in ("effects", "exact", "cuts", "from")}
    strongest = {**of, **changed, "at": edges}
    open_instrument(bare, as_sent(circuit(edges=100), strongest=strongest, n_layers=3))
    bare.locator("[data-drawn$=' circuit']").wait_for()
    shown = bare.evaluate("instrument.read()")
    chain, words = "MLP 0-1@2", bare.locator(".hl-circuit .hl-node-name")
    assert [name for name in shown["nodes"] if name.startswith("MLP")] == [chain, "MLP 2.0@2"]
    assert (chain, chain) not in {(line["from"], line["to"]) for line in shown["lines"]}
    expect(words.get_by_text("MLP 0–1", exact=True)).to_be_visible()
    expect(bare.locator(".hl-edge-ways")).to_contain_text("“t4” → MLP 0 → answer")
    bare.locator(f"[data-node='{chain}'] rect").click()
    unfolded = bare.evaluate("instrument.read()")
    assert {"MLP 0.0@2", "MLP 1.0@2"} <= {*unfolded["nodes"]}
    assert ("MLP 0.0@2", "MLP 1.0@2", 3) in drawn_of(unfolded)
    bare.get_by_role("button", name="Fold chains").click()
    assert bare.evaluate("instrument.read()") == shown


def test_a_chain_that_leaves_out_a_layer_names_its_mlps(bare: Page) -> None:
    edges = [[0, 3, 0, 2, 2, 0], [2, 3, 0, 2, 2, 4], [3, 4, 0, 2, 2, 12]]
    of = circuit().spec["strongest"]
    changed = {name: of[name][:3] for name in ("effects", "exact", "cuts", "from")}
    strongest = {**of, **changed, "at": edges}
    open_instrument(bare, as_sent(circuit(edges=100), strongest=strongest, n_layers=3))
    name = bare.locator(".hl-circuit .hl-node-name").get_by_text("MLP 0, 2", exact=True)
    expect(name).to_be_visible()


def test_an_edge_says_its_effect_its_cell_and_what_is_likely_without_it(bare: Page) -> None:
    first, _, found = found_circuit()
    edges = found.strongest.edges.tolist()
    number = next(i for i, edge in enumerate(edges) if edge[KIND] in (1, 2))
    layer, _, head, query, key, _ = edges[number]
    opened(bare, circuit(edges=300, edge=".".join(map(str, edges[number]))))
    panel = bare.locator(".hl-edge-panel")
    lost, of = found.strongest.exact[number], found.paths.whole
    verb = "rises" if lost < 0 else "falls"
    said = f"{verb} by {digits(abs(lost), 3)}, from {digits(of, 3)} to {digits(of - lost, 3)}."
    expect(panel).to_contain_text(f"Without it the logit difference {said}")
    weight = float(first.attention[layer].pattern[head, query, key])
    expect(panel).to_contain_text(f"attends to “{first.tokens[key].strip()}”")
    expect(panel).to_contain_text(f"by {digits(weight, 3)}.")
    cut = found.strongest.cuts[number]
    rows = bare.evaluate("instrument.panel.bars.read()")
    assert [row["label"] for row in rows] == [f" t{i}" for i in cut.ids]
    assert [row["after"] for row in rows] == pytest.approx(cut.after, abs=1e-5)
    bare.wait_for_function("instrument.panel.heatMap.read().marked")
    shown = bare.evaluate("instrument.panel.heatMap.read()")
    assert shown["marked"][:2] == [query, key]
    assert shown["values"][query][key] == pytest.approx(weight, abs=1e-6)
    assert shown["values"][0][1] is None, "it is masked"


def test_what_is_chosen_is_told_and_stays_while_more_comes_in(bare: Page) -> None:
    _, _, found = found_circuit()
    opened(bare, circuit(edges=20))
    largest = int(np.abs(found.strongest.exact[:18]).argmax())
    bare.locator(".hl-edges button").first.click()
    bare.wait_for_function("sent.at(-1)?.changes.edge")
    edge = ".".join(map(str, found.strongest.edges[largest].tolist()))
    assert bare.evaluate("sent.at(-1).changes") == {"edge": edge}
    receive(bare, as_sent(circuit(edges=20)))
    expect(bare.locator(".hl-edges [aria-pressed=true]")).to_have_count(1)
    bare.locator(".hl-edges [aria-pressed=true]").click()
    expect(bare.locator(".hl-edge-panel")).to_be_hidden()
    sizes, shares = found.curve.sizes, found.curve.shares
    at = next(i for i in range(1, len(sizes)) if abs(shares[i] - shares[i + 1]) > 0.05)
    bare.get_by_role("slider").fill(str(at))
    assert bare.evaluate("instrument.read().k") == sizes[at]
    share = digits(shares[at], 2)
    expect(bare.locator("[data-number=share]")).to_have_text(share)


def test_a_part_says_what_it_reads_and_writes(bare: Page) -> None:
    _, _, found = found_circuit()
    shown = opened(bare, circuit(edges=300))
    (answer,) = [name for name in shown["nodes"] if name.startswith("answer")]
    bare.evaluate("id => instrument.pick(id)", answer)
    chosen = bare.locator(".hl-chosen")
    expect(chosen.get_by_role("heading", name="answer")).to_be_visible()
    into = found.strongest.edges[:, KIND] == 4
    strongest = np.abs(found.strongest.exact[into]).max()
    expect(chosen.locator("b").first).to_contain_text(digits(strongest, 2))
    assert "It writes" not in chosen.inner_text()


def test_what_comes_in_is_drawn_as_far_as_it_is(bare: Page) -> None:
    """First the edges into the answer alone; then pale ones; of the curve nothing yet."""
    begun = Circuit(found_circuit()[2].paths)
    shown = opened(bare, part_of(begun))
    assert {line["kind"] for line in shown["lines"]} == {4}
    assert not any(edge["isExact"] for line in shown["lines"] for edge in line["edges"])
    expect(bare.get_by_text("pale: estimated so far")).to_be_visible()
    expect(bare.locator(".hl-edges b").first).to_contain_text("≈")
    expect(bare.get_by_role("slider")).to_have_count(0)
    begun.finish()
    receive(bare, as_sent(part_of(begun)))
    expect(bare.get_by_role("slider")).to_have_count(1)
    expect(bare.get_by_text("pale: estimated so far")).to_have_count(0)


def test_a_pruned_circuit_is_shown_where_there_is_one(bare: Page) -> None:
    found = Circuit(found_circuit()[2].paths)
    found.finish()
    found.prune()
    found.finish()
    shown = opened(bare, part_of(found, which="pruned"))
    n = sum(len(line["edges"]) for line in shown["lines"])
    assert n <= len(found.pruned.edges)
    expect(bare.locator("[data-number=share]")).to_have_text(digits(found.share or 0, 2))
    bare.get_by_label("strongest", exact=True).check(force=True)
    assert bare.evaluate("instrument.read().k") < len(found.strongest.edges)
    bare.wait_for_function("sent.at(-1)?.changes.which === 'strongest'")


def test_the_strongest_ways_are_those_whose_weakest_edge_is_strongest(bare: Page) -> None:
    """All ways are found by going back from the answer through every edge."""
    _, _, found = found_circuit()
    k = opened(bare, circuit(edges=60))["k"]
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
    rows = bare.locator(".hl-edge-ways b").all_inner_texts()
    shown = [abs(float(row.replace("−", "-"))) for row in rows]
    assert len(shown) > 2
    assert shown == pytest.approx(weakest, abs=0.006)


def test_a_way_is_followed(bare: Page) -> None:
    opened(bare, circuit(edges=300))
    way = bare.locator(".hl-edge-ways button").first
    way.click()
    lit = bare.locator(".hl-edge path:nth-child(2)[opacity='0.85']")
    n = way.inner_text().count("→")
    assert 0 < lit.count() <= n
    bare.locator(".hl-edge-ways [aria-pressed=true]").click()
    assert lit.count() > n
