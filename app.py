"""The app: page config and the table of pages. Start it with ``evidencebench app``."""

from pathlib import Path

import streamlit as st

from components import serving


def show_page() -> None:
    """The page that the address names."""
    st.set_page_config(page_title="EvidenceBench Explorer", layout="wide", initial_sidebar_state="collapsed")
    st.html(Path(__file__).parent / "components" / "page.css")
    pages = {
        "": [
            st.Page("pages/home.py", title="Home", default=True),
            st.Page("pages/browse.py", title="Browse", url_path="browse"),
            st.Page("pages/runs.py", title="Runs", url_path="runs"),
            st.Page("pages/analyse.py", title="Analyse", url_path="analyse"),
            st.Page("pages/paper.py", title="Your paper", url_path="paper"),
            st.Page("pages/annotate.py", title="Mark evidence", url_path="annotate"),
        ],
        "More": [
            st.Page("pages/reliability.py", title="Reliability", url_path="reliability"),
            st.Page("pages/answers.py", title="Answers", url_path="answers"),
        ],
    }
    page = st.navigation(pages, position="top")
    st.set_page_config(page_title=f"{page.title} · EvidenceBench Explorer")
    page.run()
    serving.warm_up()


if __name__ == "app":  # imported by `streamlit run`, which serves the App that it finds here
    app = st.App(__file__, middleware=serving.middleware(), lifespan=serving.lifespan)
else:
    show_page()
