"""What pages and commands need of a model, and the words where a model does not have it.

A decoder's checkpoint can show everything. Attention from another source may have neither weights
nor a next-token distribution: pages that need them are not offered for it.
"""

from collections.abc import Iterable

REASONS = {
    "decoder": "it is no decoder, which says how a text goes on",
    "projections": "what its heads write was not found",
    "blocks": "what its blocks add to a stream was not found",
    "sums": "its blocks do not add what heads, and then an MLP, write to one stream as it is",
    "edits": "its residual stream could not be followed through one stack",
    "parts": "its logits are not a plain sum of what its heads and sublayers write",
    "embeddings": "the embeddings of its tokens were not found by themselves",
    "neurons": "neurons of its MLPs were not found",
    "answers": "it has no head that predicts, neither words nor classes",
    "cache": "it keeps more of earlier tokens than their keys and values",
    "weights": "its weights are not laid out as those of the models that come with Headlight",
    "text": "its input is not text",
    "vocabulary": "it has no vocabulary",
    "logits": "it gives no next-token distribution",
    "residuals": "its residual stream was not kept",
    "mask": "no one mask hides later tokens in all of its layers",
    "readout": "its logits are not a norm and a matrix of its residual stream",
    "blanks": "it does not fill in hidden words, as an encoder with a mask token does",
    "chat": "it has no chat template, as models have that were trained on chats",
    "translates": "it has no encoder and decoder that run apart, as Headlight’s own do",
    "pictures": "it does not take drawn digits, as Headlight’s own digit reader does",
}
EVERYTHING = frozenset(REASONS)
# What a model offers for its architecture alone, if it is laid out as ours.
OF_KIND: dict[str, frozenset[str]] = {
    "decoder": frozenset({"decoder", "text", "vocabulary"}),
    "encoder": frozenset({"encoder", "blanks", "text", "vocabulary"}),
    "encoder_decoder": frozenset({"encoder_decoder", "translates", "text", "vocabulary"}),
    "vision": frozenset({"vision", "pictures", "image"}),
}
OURS_ALONE = frozenset({"translates", "pictures", "weights"})


def of_other_kinds(kind: str) -> frozenset[str]:
    """What only models of other kinds offer; nothing where the kind is not known."""
    return frozenset().union(*OF_KIND.values()) - OF_KIND[kind] if kind in OF_KIND else frozenset()


def missing(needs: Iterable[str], offers: frozenset[str]) -> list[str]:
    """Why what needs this does not apply to a model that offers that, in plain words."""
    return [REASONS[need] for need in needs if need not in offers]
