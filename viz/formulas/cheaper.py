"""Formulas of the lesson on cheaper attention, with the numbers on screen."""

from viz.formulas import FORMULAS, Formula, operand

_OVER = (  # the keys J_i that a query is left with
    r"z_i = \sum_{j \in J_i} \alpha_{ij}\, v_j,\qquad"
    r" \alpha_{ij} = \mathrm{softmax}_{j \in J_i}\!\left("
    r"q_i \cdot k_j / \sqrt{d_{\mathrm{head}}}\right),\qquad"
)


def way(name: str, window: int | str, n_global: int | str, rank: int | str) -> Formula:
    """What one way computes in the place of the softmax over all keys; sizes, or their letters."""
    return {
        "window": Formula(
            rf"{_OVER} J_i = \{{j \le i : i - j < {window}\}}",
            "Beltagy et al. 2020, §3.1",
        ),
        "global": Formula(
            rf"{_OVER} J_i = \{{j \le i : i - j < {window}\ \text{{or}}\ j < {n_global}\ "
            rf"\text{{or}}\ i < {n_global}\}}",
            "Beltagy et al. 2020, §3.1, global attention; Xiao et al. 2024 of the first tokens",
        ),
        "linear": Formula(
            r"z_i = \frac{\varphi(q_i)^{\top} S_i}{\varphi(q_i)^{\top} s_i},\quad"
            r" S_i = S_{i-1} + \varphi(k_i)\, v_i^{\top},\quad s_i = s_{i-1} + \varphi(k_i),\quad"
            r" \varphi(x) = \mathrm{elu}(x) + 1",
            "Katharopoulos et al. 2020, eq. 7 and 9 to 12",
        ),
        "low_rank": Formula(
            rf"QK^{{\top}} \approx \sum_{{m=1}}^{{{rank}}} \sigma_m\, u_m w_m^{{\top}}",
            "Eckart & Young 1936: no matrix of this rank is closer; the mask comes after",
        ),
    }[name]


def tiles(maximum: float, total: float) -> Formula:
    """What is kept of a row, and how a further tile changes it."""
    numbers = rf"m' = {operand(maximum)},\ \ell' = {operand(total)}"
    return FORMULAS["Tiles"].with_numbers(numbers)


def memory(n_heads: int, n: int) -> Formula:
    """Float32 of a layer: its maps, or two numbers per head and query."""
    maps, running = (f"{x:,}".replace(",", "{,}") for x in (4 * n_heads * n**2, 8 * n_heads * n))
    return Formula(
        rf"4\,H T^2 = 4 \cdot {n_heads} \cdot {n}^2 = {maps}\ \text{{bytes}},"
        rf"\qquad 4\,H \cdot 2T = 8 \cdot {n_heads} \cdot {n} = {running}\ \text{{bytes}}",
        FORMULAS["Maps"].reference,
    )
