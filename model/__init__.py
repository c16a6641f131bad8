"""A Transformer that can be watched: the maths, the model, its capture and its proof.

Knows nothing of Streamlit or Plotly. Read in this order: config, positions, masks, attention,
norms, feedforward, blocks, transformer, capture, verify.
"""
