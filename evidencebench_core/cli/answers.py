"""``evidencebench answers ACTION``: answers with citations, scored and judged."""

from __future__ import annotations

from typing import Final

from evidencebench_core.cli import answers_ask, answers_nuggets, answers_scores, answers_sets
from evidencebench_core.cli.arguments import verb_of

VERBS: Final = {
    "answers": verb_of(
        answers_sets.ACTIONS | answers_scores.ACTIONS | answers_nuggets.ACTIONS | answers_ask.ACTIONS
    )
}
