"""DataFrame in, plotly figure out, without streamlit. Shares are 0 to 1 in the frames and percent in the figures."""
