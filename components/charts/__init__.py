"""DataFrame in, plotly figure out; nothing here knows of streamlit."""
