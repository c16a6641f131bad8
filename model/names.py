"""What a head is called on screen, in tables and in messages."""


def head_name(layer: int, head: int, kind: str = "") -> str:
    """A head by its layer and number, as L2 H4; with the kind of its layer, as L2 cross H4."""
    return f"L{layer}{f' {kind}' if kind else ''} H{head}"
