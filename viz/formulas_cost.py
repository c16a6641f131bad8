"""LaTeX of what a model costs by its sizes."""

from viz.formulas import Formula

PARAMETERS = Formula(
    r"N = V D + L \,\bigl(\underbrace{2 D H d_h + 2 D G d_h}_{\text{attention}}"
    r" + \underbrace{2 D F \ \text{ or } \ 3 D F}_{\text{MLP}}\bigr)"
    r" + \text{norms} + \text{biases}",
    "Vaswani et al. 2017, §3; with a gate, 3DF, Shazeer 2020, §2; with F = 4D and G = H that "
    "is 12 D² a block",
)
OPERATIONS = Formula(
    r"C = 2\,N_{\text{matrices}} + 4\, L\, H\, d_h\, n",
    "for one token that attends to n; Kaplan et al. 2020, table 1, count half of the attention: "
    "its products with keys, without those with values",
)
MEMORY = Formula(
    r"\text{training} = 16\,N, \qquad \text{cache} = 2\, L\, G\, d_h\, n \cdot 2,"
    r"\qquad \text{maps} = L\, H\, n^2 \cdot 2 \quad \text{bytes}",
    "Rajbhandari et al. 2020, §3.1; Dao et al. 2022",
)
LAYERS = Formula(
    r"\text{attention } n^2 d, \qquad \text{recurrence } n\, d^2, \qquad"
    r" \text{convolution } k\, n\, d^2, \qquad \text{window } r\, n\, d",
    "Vaswani et al. 2017, table 1",
)
TIMES = Formula(
    r"t(n) = a + b\,n + c\,n^2, \qquad t(n) = a' + \frac{C(n)}{\text{rate}}",
    "least squares of (fit − t) / t over the medians; C(n) are the operations of a pass over n",
)
