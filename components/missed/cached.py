"""Found and missed aspects, cached (see `components.app.resources`)."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from components.app import resources
from components.app.resources import KEYS, Keys
from evidencebench_core.analyses.causes import Thresholds, with_causes
from evidencebench_core.analyses.missed import aspect_outcomes
from evidencebench_core.analyses.missed_report import SHARED_COLUMNS, Binning
from evidencebench_core.analyses.missed_report import missed_shares as shares_of_missed
from evidencebench_core.analyses.missed_text import with_text
from evidencebench_core.runs import RunInfo, RunStore


def _key_with_other_runs(run: RunInfo) -> object:
    """For what is made of every run over a run's dataset."""
    return run.id, [resources.run_key(other) for other in RunStore(resources.store()).runs(run.dataset)]


_KEYS_WITH_OTHER_RUNS: Final[Keys] = {**KEYS, RunInfo: _key_with_other_runs, np.ndarray: np.ndarray.tobytes}


@st.cache_resource(max_entries=9, show_spinner=False, hash_funcs=_KEYS_WITH_OTHER_RUNS)
def missed_outcomes(run: RunInfo, task: str, limits: str | None) -> pd.DataFrame:
    """The aspects that a run found or missed, beside other runs; nobody may change the frame.

    With the papers' words where ``limits`` is a text, and with causes where it is not empty.
    """
    if limits is None:
        return aspect_outcomes(resources.store(), run.id, task)
    if not limits:
        return with_text(resources.store(), missed_outcomes(run, task, None))
    return with_causes(missed_outcomes(run, task, ""), Thresholds.from_text(limits))


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_KEYS_WITH_OTHER_RUNS)
def missed_share(
    run: RunInfo,
    task: str,
    limits: str | None,
    by: Binning,
    left: NDArray[np.bool_],
    missed: NDArray[np.bool_],
) -> pd.DataFrame:
    """Missed shares of a run by bin, with intervals, of the aspects ``left``; nobody may change the frame."""
    outcomes = missed_outcomes(run, task, limits)
    columns = [name for name in SHARED_COLUMNS if name in outcomes]
    return shares_of_missed(outcomes.loc[left, columns].assign(missed=missed[left]), by)
