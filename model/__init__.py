"""A Transformer that can be watched: the maths, the models, their traces and their checks.

Knows nothing of Streamlit or Plotly; everything can be imported in a notebook. Read in this order:
config, positions, masks, attention, norms, feedforward, blocks, architectures (stack and decoder,
then the others), tap, trace, capture, verify. Then what is asked of traces (analysis), text
(decoding), where models come from (sources) and how they are made (data, training); commands is the
command line over all of it.
"""
