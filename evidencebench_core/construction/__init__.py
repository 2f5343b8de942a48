"""How instances are made: windows, spans and funnels as pure functions, and Evidence Inference as a dataset."""

from evidencebench_core.construction.align import Alignment, alignment
from evidencebench_core.construction.builds import BadLine, build_input, read_builds
from evidencebench_core.construction.echo import EchoCheck, echo_check, echo_lines
from evidencebench_core.construction.from_trials import (
    TrialTally,
    aspect_text,
    comparison_hypothesis,
    pool_sha256,
    trial_instances,
)
from evidencebench_core.construction.funnel import DropReason, Funnel, coverage_drop
from evidencebench_core.construction.harvest import Citation, Harvest, harvest
from evidencebench_core.construction.measure import (
    AlignmentFigures,
    alignment_figures,
    doctors_agreement,
    read_judgements,
)
from evidencebench_core.construction.provenance import (
    PROPOSED_NOTE,
    GoldMakers,
    gold_makers,
    has_proposed_aspects,
    provenance_line,
)
from evidencebench_core.construction.spans import QuoteFinder, sentences_in
from evidencebench_core.construction.state import (
    PROFILES,
    STAGES,
    AspectDraft,
    BuildInput,
    BuildState,
    ConstructionSettings,
    Edits,
    Pool,
    Position,
    Stage,
    StageResult,
)
from evidencebench_core.construction.trials import Prompt, TrialAnswer, Trials, read_trials
from evidencebench_core.construction.windows import (
    AspectLooks,
    Merge,
    Window,
    WindowLook,
    covers_of,
    look_of,
    looks_due,
    windows,
)

__all__ = [
    "PROFILES",
    "PROPOSED_NOTE",
    "STAGES",
    "Alignment",
    "AlignmentFigures",
    "AspectDraft",
    "AspectLooks",
    "BadLine",
    "BuildInput",
    "BuildState",
    "Citation",
    "ConstructionSettings",
    "DropReason",
    "EchoCheck",
    "Edits",
    "Funnel",
    "GoldMakers",
    "Harvest",
    "Merge",
    "Pool",
    "Position",
    "Prompt",
    "QuoteFinder",
    "Stage",
    "StageResult",
    "TrialAnswer",
    "TrialTally",
    "Trials",
    "Window",
    "WindowLook",
    "alignment",
    "alignment_figures",
    "aspect_text",
    "build_input",
    "comparison_hypothesis",
    "coverage_drop",
    "covers_of",
    "doctors_agreement",
    "echo_check",
    "echo_lines",
    "gold_makers",
    "harvest",
    "has_proposed_aspects",
    "look_of",
    "looks_due",
    "pool_sha256",
    "provenance_line",
    "read_builds",
    "read_judgements",
    "read_trials",
    "sentences_in",
    "trial_instances",
    "windows",
]
