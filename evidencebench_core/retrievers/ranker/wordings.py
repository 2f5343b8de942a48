"""The features in plain words: what each is called, how its value is written, and what it lets one say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["GROUP_WORDINGS", "WORDINGS", "GroupWording", "Unit", "Wording", "value_text"]

Unit = Literal["flag", "count", "deviation", "cosine", "share", "rank", "place", "number"]
"""``place`` is a number of sentences or a share of the abstract, -1 outside of it; ``rank`` 0 for the first."""

_NEVER: Final = float("-inf")


@dataclass(frozen=True, slots=True)
class Wording:
    """A feature in words.

    Attributes
    ----------
    label : str
        Its name for people.
    unit : str
        How its value is written; see `value_text`.
    says : tuple of (float, str)
        What may be said of a sentence with at least so much; the last that applies counts, ``""`` says nothing.
    topic : str
        Of several features of one topic only one is said.
    sharp : int
        Which: the one with the most.
    """

    label: str
    unit: Unit
    says: tuple[tuple[float, str], ...] = ()
    topic: str = ""
    sharp: int = 0

    def phrase(self, value: float) -> str:
        """What may be said of a sentence with this value; empty where nothing may."""
        found = ""
        for least, words in self.says:
            if value >= least:
                found = words
        return found


@dataclass(frozen=True, slots=True)
class GroupWording:
    """A group of features in words: ``label`` names it, ``reason`` says that it counted for a sentence."""

    label: str
    reason: str


GROUP_WORDINGS: Final[Mapping[str, GroupWording]] = MappingProxyType(
    {
        "words shared": GroupWording("Words shared with the hypothesis", "shares words with the hypothesis"),
        "meaning shared": GroupWording(
            "Meaning shared with the hypothesis", "near to the hypothesis in meaning"
        ),
        "what it says": GroupWording("What it says (embedding)", "says what evidence often says"),
        "neighbours": GroupWording(
            "The sentences around it", "stands among sentences that bear on the hypothesis"
        ),
        "centrality": GroupWording("How central it is to the paper", "says what the paper is about"),
        "place": GroupWording("Where it stands", "stands where evidence often stands"),
        "kind of text": GroupWording(
            "Which part of the paper it is", "is in a part that often holds evidence"
        ),
        "surface": GroupWording(
            "Length and figures", "is as long and as full of figures as evidence often is"
        ),
        "cue words": GroupWording("Words that tell its purpose", "is worded as evidence often is"),
    }
)
"""By the names of `GROUP_OF`."""

_CUES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "finding": ("Words of finding (found, showed)", "says what was found"),
        "significance": ("Words of significance", "speaks of significance"),
        "association": ("Words of association or risk", "tells of an association or a risk"),
        "conclusion": ("Words of conclusion (suggest, therefore)", "draws a conclusion"),
        "aim": ("Words of aim (to investigate)", "says what was examined"),
        "method": ("Words of method (measured, enrolled)", "tells how something was done"),
        "people": ("Words for those studied (patients, mice)", "names who was studied"),
        "comparison": ("Words of comparison (higher, than)", "makes a comparison"),
        "negation": ("Negations", "says that something is not so"),
        "earlier work": ("Words for earlier work", "refers to earlier work"),
        "hedge": ("Words of caution (may, possibly)", "is worded with caution"),
        "first person": ("We, our, us", "is said in the authors' own voice"),
        "limitation": ("Words for limits", "names a limit"),
        "contrast": ("Words of contrast (however, whereas)", "sets one thing against another"),
        "design": ("Words for the design (cohort, placebo)", "names the design of the study"),
        "test statistic": ("Test results (p, CI, n =)", "reports a test result"),
        "percentage": ("Percentages", "gives a percentage"),
        "citation": ("Citations", "cites other work"),
        "figure or table": ("Figures and tables named", "points to a figure or table"),
        "head count": ("Numbers of those studied (42 patients)", "says how many were studied"),
    }
)

_PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "abstract": "in the abstract",
        "introduction": "in the introduction",
        "methods": "in the methods",
        "results": "in the results",
        "discussion": "in the discussion",
        "conclusion": "in the conclusion",
        "other": "",
    }
)
_HIGH_RANK: Final = 0.05


def _beside(cue: str, where: str) -> Wording:
    label, phrase = _CUES[cue]
    told = "follows a sentence that" if where == "before" else "comes before a sentence that"
    lower = label[0].lower() + label[1:]
    return Wording(f"Sentence {where}: {lower}", "count", ((1, f"{told} {phrase}"),), "around", 1)


WORDINGS: Final[Mapping[str, Wording]] = MappingProxyType(
    {
        # words shared
        "bm25": Wording(
            "Shared words (BM25)", "number", ((1e-9, "shares words with the hypothesis"),), "words"
        ),
        "bm25 standardised": Wording(
            "Shared words, against the paper's average",
            "deviation",
            ((1, "shares telling words with the hypothesis"),),
            "words",
            2,
        ),
        "bm25 rank": Wording(
            "Rank by shared words",
            "rank",
            ((_NEVER, "shares telling words with the hypothesis"), (_HIGH_RANK, "")),
            "words",
            2,
        ),
        "overlap by idf": Wording(
            "The hypothesis's words that it has, rare ones counting more",
            "share",
            ((0.5, "has most of the hypothesis's telling words"),),
            "words",
            3,
        ),
        "overlap": Wording(
            "The hypothesis's words that it has",
            "share",
            ((0.5, "has half of the hypothesis's words or more"),),
            "words",
            3,
        ),
        "word pairs": Wording(
            "Word pairs shared",
            "share",
            ((1e-9, "has words in the same order as the hypothesis"),),
            "words",
            1,
        ),
        "hypothesis length": Wording("Words in the hypothesis", "count"),
        # meaning shared
        "cosine": Wording(
            "Closeness in meaning", "cosine", ((0.5, "close to the hypothesis in meaning"),), "meaning", 1
        ),
        "cosine standardised": Wording(
            "Closeness in meaning, against the paper's average",
            "deviation",
            ((1, "close to the hypothesis in meaning"),),
            "meaning",
            1,
        ),
        "cosine rank": Wording(
            "Rank by closeness in meaning",
            "rank",
            ((_NEVER, "among the closest to the hypothesis in meaning"), (_HIGH_RANK, "")),
            "meaning",
            2,
        ),
        "cosine of heading": Wording(
            "Its heading's closeness in meaning",
            "cosine",
            ((0.4, "under a heading close to the hypothesis"),),
            "heading",
        ),
        "fused rank": Wording(
            "Ranks by words and by meaning, together",
            "number",
            ((0.07, "close to the hypothesis in words and meaning together"),),
            "meaning",
        ),
        # neighbours
        "cosine before": Wording(
            "Sentence before: closeness in meaning",
            "cosine",
            ((0.5, "follows a sentence close to the hypothesis"),),
            "around",
        ),
        "cosine after": Wording(
            "Sentence after: closeness in meaning",
            "cosine",
            ((0.5, "comes before a sentence close to the hypothesis"),),
            "around",
        ),
        "cosine around 1": Wording(
            "Two sentences around it: closeness in meaning",
            "cosine",
            ((0.4, "stands among sentences close to the hypothesis"),),
            "around",
        ),
        "cosine around 3": Wording(
            "Six sentences around it: closeness in meaning",
            "cosine",
            ((0.4, "stands among sentences close to the hypothesis"),),
            "around",
        ),
        "bm25 around 1": Wording("Two sentences around it: shared words", "number"),
        **{
            f"{cue} {where}": _beside(cue, where)
            for cue in ("finding", "significance", "test statistic", "aim", "conclusion", "method")
            for where in ("before", "after")
        },
        # centrality
        "centrality": Wording("Likeness to the paper's sentences", "cosine"),
        "centrality standardised": Wording(
            "Likeness to the paper's sentences, against their average",
            "deviation",
            ((1, "says what much of the paper is about"),),
            "centre",
        ),
        "centrality rank": Wording(
            "Rank by likeness to the paper's sentences",
            "rank",
            ((_NEVER, "says what much of the paper is about"), (0.1, "")),
            "centre",
        ),
        "centrality by relevance": Wording(
            "Likeness to the sentences near the hypothesis",
            "cosine",
            ((0.35, "like the other sentences that bear on the hypothesis"),),
            "centre",
            1,
        ),
        "nearest in abstract": Wording(
            "Likeness to the abstract's nearest other sentence",
            "cosine",
            ((0.6, "says much the same as another sentence of the abstract"),),
            "like abstract",
        ),
        "mean with abstract": Wording(
            "Likeness to the abstract",
            "cosine",
            ((0.4, "close to the abstract in meaning"),),
            "like abstract",
        ),
        "abstract's last": Wording(
            "Likeness to the abstract's last sentence",
            "cosine",
            ((0.6, "close to what the abstract ends with"),),
            "like abstract",
            1,
        ),
        "abstract's last two": Wording(
            "Likeness to the abstract's last two sentences",
            "cosine",
            ((0.6, "close to what the abstract ends with"),),
            "like abstract",
            1,
        ),
        "abstract's first": Wording(
            "Likeness to the abstract's first sentence",
            "cosine",
            ((0.6, "close to what the abstract begins with"),),
            "like abstract",
            1,
        ),
        "title": Wording("Likeness to the title", "cosine", ((0.5, "close to the paper's title"),), "title"),
        # place
        "place in paper": Wording(
            "Place in the paper",
            "share",
            ((0, "at the beginning of the paper"), (0.1, ""), (0.85, "towards the end of the paper")),
            "where",
        ),
        "paper length": Wording("Sentences in the paper", "count"),
        "abstract length": Wording("Sentences in the abstract", "count"),
        "from abstract's start": Wording(
            "Sentences before it in the abstract",
            "place",
            ((0, "the abstract's first sentence"), (0.5, "in the abstract")),
            "where",
            3,
        ),
        "from abstract's end": Wording(
            "Sentences after it in the abstract",
            "place",
            (
                (0, "the abstract's last sentence"),
                (0.5, "the abstract's last sentence but one"),
                (1.5, "in the abstract"),
            ),
            "where",
            4,
        ),
        "place in abstract": Wording(
            "Place in the abstract",
            "place",
            (
                (0, "in the abstract's first third"),
                (1 / 3, "in the abstract's middle"),
                (2 / 3, "in the abstract's last third"),
            ),
            "where",
            5,
        ),
        "from section's start": Wording(
            "Sentences before it in its section",
            "count",
            ((_NEVER, "at the beginning of its section"), (2.5, "")),
            "in section",
        ),
        "from section's end": Wording(
            "Sentences after it in its section",
            "count",
            ((_NEVER, "at the end of its section"), (1.5, "")),
            "in section",
        ),
        "section length": Wording("Sentences in its section", "count"),
        "place in part": Wording(
            "Place in its part of the paper",
            "share",
            (
                (_NEVER, "at the beginning of its part of the paper"),
                (0.1, ""),
                (0.8, "late in its part of the paper"),
            ),
            "in section",
            1,
        ),
        "part length": Wording("Sentences in its part of the paper", "count"),
        "from part's start": Wording(
            "Sentences before it in its part of the paper",
            "count",
            ((_NEVER, "at the beginning of its part of the paper"), (2.5, "")),
            "in section",
            1,
        ),
        "from part's end": Wording(
            "Sentences after it in its part of the paper",
            "count",
            ((_NEVER, "at the end of its part of the paper"), (1.5, "")),
            "in section",
            1,
        ),
        # kind of text
        "abstract": Wording("In the abstract", "flag", ((1, "in the abstract"),), "where", 1),
        "heading": Wording("A heading", "flag", ((1, "a heading"),), "kind"),
        **{
            f"part: {part}": Wording(
                f"Part of the paper: {part}",
                "flag",
                ((1, phrase),),
                "where",
                1 if part == "abstract" else 2,
            )
            for part, phrase in _PARTS.items()
        },
        # surface
        "length": Wording("Words", "count"),
        "length standardised": Wording(
            "Words, against the paper's average",
            "deviation",
            ((_NEVER, "short for this paper"), (-1, ""), (1, "long for this paper")),
            "length",
        ),
        "numbers": Wording("Numbers", "count", ((1, "gives figures"),), "figures"),
        "decimals": Wording("Decimal numbers", "count", ((1, "gives exact figures"),), "figures", 1),
        "acronyms": Wording("Acronyms", "count"),
        "parentheses": Wording("Brackets", "count"),
        # cue words
        **{
            name: Wording(label, "count", ((1, phrase),), f"cue: {name}")
            for name, (label, phrase) in _CUES.items()
        },
    }
)
"""By the names of `FEATURES`, in their order."""


def value_text(name: str, value: float) -> str:
    """A feature's value for people; one that is not known here as a plain number."""
    wording = WORDINGS.get(name)
    unit: str = "number" if wording is None else wording.unit
    if unit == "place":
        unit = "outside" if value < 0 else "share" if name == "place in abstract" else "count"
    text = {
        "flag": "yes" if value >= 0.5 else "no",
        "count": f"{value:,.0f}",
        "deviation": f"{value:+.1f} SD",
        "share": f"{100 * value:.0f}%",
        "rank": "first" if value <= 0 else f"top {max(100 * value, 1):.0f}%",
        "outside": "not in it",
    }.get(unit, f"{value:.2f}")
    return text.replace("-", "\N{MINUS SIGN}")
