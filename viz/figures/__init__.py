"""Pure functions: numpy arrays and strings in, Plotly figures out."""
