"""The gold of a task and the picks in it as arrays, cached (see `components.app.resources`)."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from components.app import resources
from components.app.resources import KEYS
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.buckets import buckets_of
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import task_named


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=KEYS)
def aspects(dataset: DatasetInfo, task: str) -> AspectTable:
    """The gold of a task as arrays."""
    return aspect_table(resources.store(), dataset.name, task_named(task))


@st.cache_resource(max_entries=8, show_spinner="Counting tokens …", hash_funcs=KEYS)
def buckets(dataset: DatasetInfo, task: str, n_buckets: int, by: str) -> NDArray[np.uint8]:
    """The bucket of every place of `aspects`."""
    table = aspects(dataset, task)
    places = buckets_of(resources.store(), dataset.name, table, n_buckets, by)
    places.setflags(write=False)
    return places


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=KEYS)
def picks(dataset: DatasetInfo, run: RunInfo, task: str) -> RunPicks:
    """Where a run looked and what it found, in the rows of `aspects`."""
    return run_picks(aspects(dataset, task), RunStore(resources.store()).packed_selections(run.id, task))
