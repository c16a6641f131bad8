"""Pure functions: numpy arrays and strings in, charts out, or Plotly figures."""
