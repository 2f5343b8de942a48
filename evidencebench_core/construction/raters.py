"""A build's paper to be marked by hand; who marked it in the build is an annotator to compare with (rule 35)."""

from __future__ import annotations

from types import MappingProxyType
from urllib.parse import unquote

from evidencebench_core.construction.pipeline import construction
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.store import KEY, key_prefix
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.papers.annotation import Annotation, MarkedAspect
from evidencebench_core.papers.marked import MarkedPaper, marked_paper
from evidencebench_core.papers.paper import Paper


def build_key(name: str, review: Review) -> str:
    """The key of annotations of a build's paper, as it was read."""
    pool = review.state.pool
    return f"{key_prefix(name)}{review.state.id}@{pool.sha256[:12] if pool else ''}"


def named_build(key: str) -> tuple[str, str]:
    """The construction and the build of a key."""
    name, _, rest = key.removeprefix(KEY).partition("/")
    return unquote(name), rest.rpartition("@")[0]


def marked_by_key(store: Store, key: str) -> MarkedPaper:
    """The paper of any key; `UnknownNameError` if it is gone, or is a build's and was read again."""
    if not key.startswith(KEY):
        return marked_paper(store, key)
    found = marked_build(store, *named_build(key))
    if found.key != key:
        raise UnknownNameError(f"paper {shown(key, 60)}", "was read again since", "Open its instance again.")
    return found


def marked_build(store: Store, name: str, build: str) -> MarkedPaper:
    """The paper of a build; `UnknownNameError` if there is none."""
    made = construction(store, name)
    (review,) = made.reviews([build])
    pool = review.state.pool
    if pool is None:
        remedy = "`evidencebench construct status` says how far it is."
        raise UnknownNameError(f"paper of build {shown(build, 60)}", "was not read yet", remedy)
    paper = Paper(
        pool.paper_id, pool.title, pool.sentences, pool.sentence_types, "text", MappingProxyType({}), ()
    )
    prompt = str(made.specs["alignment"].settings["prompts"][0])
    called, others = pool.title or build, _annotations_of(review, prompt)
    return MarkedPaper(build_key(made.name, review), called, review.state.hypothesis, paper, others=others)


def _annotations_of(review: Review, prompt: str) -> tuple[Annotation, ...]:
    """Who marked the paper of a build, as annotators: the model with the version of its prompt, and people by mode.

    What a person marked before seeing any proposal is called ``NAME (blind)``, what all in all stands of a person
    ``NAME (assisted)``. An aspect that somebody has not judged is not among theirs.
    """
    state, covers = review.state, review.state.covers()
    model = state.settings.align_model or state.settings.model
    by_who = {f"model:{model} {prompt}": dict(covers)} if covers else {}
    for (who, number), marked in review.blind_marks.items():
        by_who.setdefault(f"{who} (blind)", {})[number] = marked
    for item, said in review.newest.items():
        kind, *numbers = item.split(":")
        for who, one in said.items():
            if kind in ("mark", "uncovered") and one.mode == "assisted" and one.verdict != "unsure":
                of = by_who.setdefault(f"{who} (assisted)", {})
                is_mark = kind == "mark" and one.verdict != "reject"
                number = int(numbers[0])
                of[number] = of.get(number, frozenset()) | ({int(numbers[1])} if is_mark else frozenset())
    n = len(state.pool.sentences) if state.pool else 0
    found = []
    for who, of in by_who.items():
        aspects = tuple(
            MarkedAspect(f"aspect_{one.number}", one.text, bool(one.is_result), tuple(sorted(of[one.number])))
            for one in state.aspects
            if one.number in of
        )
        if aspects:
            found.append(Annotation(who, state.hypothesis, n, aspects, len(aspects)))
    return tuple(found)
