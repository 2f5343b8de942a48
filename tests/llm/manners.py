"""How `llm.parsed` reads the answers of manners.toml: ``python -m tests.llm.manners`` prints right, lost, wrong."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evidencebench_core.llm.parse import ParsedAnswer, read_answer

N_SHOWN = 40


@dataclass(frozen=True)
class Manner:
    """An answer with what its author chose."""

    family: str
    text: str
    chosen: tuple[int, ...] = ()
    kind: str = "selection"
    first: int = 0
    finish_reason: str | None = None
    unseen: bool = False

    def read(self) -> ParsedAnswer:
        shown = range(self.first, self.first + N_SHOWN)
        return read_answer(self.text, shown, finish_reason=self.finish_reason)

    def verdict(self) -> Literal["right", "lost", "wrong"]:
        """Lost: something chosen is missing. Wrong: something is taken that was not chosen, or the kind is."""
        answer = self.read()
        if (answer.kind, answer.indices) == (self.kind, self.chosen):
            return "right"
        return "lost" if self.chosen and set(answer.indices) < set(self.chosen) else "wrong"


def manners() -> list[Manner]:
    document = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return [Manner(**one | {"chosen": tuple(one.get("chosen", ()))}) for one in document["answer"]]


def main() -> None:
    every = manners()
    for one in every:
        if one.verdict() != "right":
            answer = one.read()
            print(
                f"{one.verdict()} {one.family}: {answer.kind} {answer.indices}, not {one.kind} {one.chosen}"
            )
            print("    " + one.text.strip().replace("\n", "\n    "))
    for unseen in (False, True):
        verdicts = Counter(one.verdict() for one in every if one.unseen == unseen)
        print(verdicts.total(), "unseen answers:" if unseen else "answers:", dict(verdicts))


if __name__ == "__main__":
    main()
