"""Circuits: which part's term is read where, on the way from the words to an answer.

Two texts of equally many tokens are run. What stands in the residual stream is a sum of terms, one
of each writer: the embedding of a token, a head at a query, a feed-forward at a token (Elhage et
al. 2021, "Virtual weights and the residual stream"). Positions and biases are no writers: both
texts have the same. An edge is one such term in the input of one reader: q of a head at a query, k
or v of a head at a query for one key, the feed-forward at a token, or the answer.

The effect of an edge is what the answer loses when this one term is that of the other text, the
norm computed again and all that follows run again (path patching, Wang et al. 2023; between heads
and feed-forwards Conmy et al. 2023).
"""
