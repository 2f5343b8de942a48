"""Runs: one retriever over one dataset, or any questions to a model.

`plan` and `chat_plan` find what is to be asked, `estimate` says what it takes, `execute` does it and stores the
results; `RunStore` reads them back, `score_run` computes from them.
"""

from evidencebench_core.retrievers.settings import parameters_of
from evidencebench_core.runs.chat import (
    JUDGEMENTS,
    ChatSpec,
    Question,
    Rewording,
    chat_plan,
    chat_run,
    chat_spec,
    judge_run,
    judge_runs,
    request_settings,
)
from evidencebench_core.runs.evaluation import RunLike, evaluate, run, score_predictions, score_run
from evidencebench_core.runs.execution import (
    Engine,
    LocalEngine,
    Progress,
    RunEstimate,
    Step,
    estimate,
    execute,
)
from evidencebench_core.runs.model import Result, RunInfo, RunSpec, Sample, retrieval_spec
from evidencebench_core.runs.planning import DEFAULT_TASKS, Fresh, Plan, Variant, plan
from evidencebench_core.runs.ranker_training import RankerTraining, train_ranker
from evidencebench_core.runs.store import RunStore, trained_on_ids
