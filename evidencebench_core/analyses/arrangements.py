"""The same paper with one of its parts moved to the start, the middle or the end, or removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from evidencebench_core.data.model import Instance
from evidencebench_core.data.sections import SECTION_CLASSES, SectionClass, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import Progress, RunInfo, RunSpec, Variant, digest_of, execute, plan
from evidencebench_core.tasks import Task

Part = SectionClass
Place = Literal["start", "middle", "end", "removed"]

PARTS: Final[tuple[Part, ...]] = tuple(part for part in SECTION_CLASSES if part != "other")
PLACES: Final[tuple[Place, ...]] = get_args(Place)

_RULE: Final = 1  # raise it when `arrangement` or the classes of sections change: runs must not mix two rules


def parts_named(names: Sequence[str]) -> tuple[Part, ...]:
    """The parts of these names, each once; ``"every"`` is all of them."""
    wanted = [part for name in names for part in (PARTS if name == "every" else (name,))]
    for name in wanted:
        if name not in PARTS:
            raise SettingError(
                "part", f"is {shown(name)}", f"Parts are: {', '.join(PARTS)}, and every for all of them."
            )
    return tuple(part for part in PARTS if part in wanted)


def arrangement(instance: Instance, part: Part, place: Place) -> tuple[int, ...] | None:
    """The paper's sentences, by original index, in the order in which the retriever is to read them.

    The part is taken out as one block, in its own order, headings included, and put before all other
    sentences, between their first half and their second, behind them, or nowhere. ``None`` where the
    paper has no such part, or nothing else.
    """
    classes = section_classes(instance.sentences, instance.sentence_types)
    block = [index for index, name in enumerate(classes) if name == part]
    rest = [index for index, name in enumerate(classes) if name != part]
    if not block or not rest:
        return None
    half = len(rest) // 2
    orders: Mapping[Place, list[int]] = {
        "start": block + rest,
        "middle": rest[:half] + block + rest[half:],
        "end": rest + block,
        "removed": rest,
    }
    return tuple(orders[place])


def needle_variant(part: Part, place: Place) -> Variant:
    """The variant of a run over papers that are arranged like this."""
    return Variant(
        name=f"place:{part}={place}",
        digest=digest_of("place", part, place, _RULE),
        arrangement=lambda instance: arrangement(instance, part, place),
    )


def arrangement_run(run: RunInfo, sha256: str, part: Part, place: Place) -> str:
    """Id of the run with the same retriever and settings over the arranged papers."""
    variant = needle_variant(part, place)
    return RunSpec(sha256, run.retriever, run.settings, variant.name, variant.digest).id


@dataclass(frozen=True, slots=True)
class Step:
    """How far a needle test is.

    Attributes
    ----------
    number, of : int
        Which of how many runs, from 1.
    variant : str
        Name of the arrangement; ``""`` for the paper as it stands.
    progress : Progress
        Of that run.
    """

    number: int
    of: int
    variant: str
    progress: Progress


def run_arrangements(  # noqa: PLR0913
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None,
    tasks: Sequence[str | Task],
    parts: Sequence[Part] = ("abstract",),
    places: Sequence[Place] = PLACES,
    *,
    limit: int | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[Step]:
    """Run a retriever over the papers as they stand and over each arrangement of them.

    What is stored already is not asked again (`runs.execute`); a cancel keeps what is answered. Yields
    once before each run, then after each of its instances; raises what `runs.execute` does.
    """
    variants = [None, *(needle_variant(part, place) for part in parts for place in places)]
    for number, variant in enumerate(variants, start=1):
        if cancelled is not None and cancelled():
            return
        steps = execute(
            plan(store, dataset, retriever, settings, tasks, limit, variant=variant), cancelled=cancelled
        )
        for progress in steps:
            yield Step(number, len(variants), variant.name if variant else "", progress)
