"""A model's answer about one paper and a statement, and whether sentences are for or against that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evidencebench_core.answers.asking import answer_in, answer_question
from evidencebench_core.answers.cited import CitedAnswer
from evidencebench_core.answers.judging import MARK, SUPPORT_WORDS, support_question
from evidencebench_core.data.model import Focus
from evidencebench_core.llm.client import gather
from evidencebench_core.papers.find import Findings, ReadPaper
from evidencebench_core.runs import request_settings
from evidencebench_core.runs.labels import label_of

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

_STANCES: Final = {"supports": "supports", "contradicts": "against", "neutral": "neither"}


async def answer_about(
    llm: LLM, read: ReadPaper, hypothesis: str, focus: Focus, *, model: str
) -> CitedAnswer:
    """A short answer whose sentences cite the paper's; with the focus ``results`` it has findings only."""
    sentences = read.paper.sentences
    result = await answer_question(hypothesis, sentences, focus).answer(llm, model, request_settings())
    return answer_in(result, len(sentences))


async def stance_of(llm: LLM, hypothesis: str, sentence: str, *, model: str) -> str:
    """``supports``, ``against`` or ``neither``; empty where the model's words are none of them."""
    result = await support_question(hypothesis, sentence).answer(llm, model, request_settings())
    label, _ = label_of(result, SUPPORT_WORDS, MARK)
    return _STANCES.get(label or "", "")


async def stances_of(llm: LLM, findings: Findings, *, model: str) -> dict[int, str]:
    """The stance of each pick, one call for each; without those that could not be read."""
    texts = [findings.read.paper.sentences[index] for index in findings.picks]
    stances = await gather(*(stance_of(llm, findings.hypothesis, text, model=model) for text in texts))
    return {index: stance for index, stance in zip(findings.picks, stances, strict=True) if stance}
