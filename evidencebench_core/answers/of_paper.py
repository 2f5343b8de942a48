"""A model asked about one paper: what it finds on a statement, and whether sentences of it are for or against that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from evidencebench_core.answers.asking import ASKED, answer_in
from evidencebench_core.answers.cited import CitedAnswer
from evidencebench_core.answers.judging import JUDGES, read_judgement, support_fields
from evidencebench_core.data.model import Focus
from evidencebench_core.llm import prompt
from evidencebench_core.llm.client import gather
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.papers.find import Findings, ReadPaper
from evidencebench_core.runs import Result, ask_model, parameters_of, request_settings

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

_STANCES: Final = {"supports": "supports", "contradicts": "against", "neutral": "neither"}


async def answer_about(
    llm: LLM, read: ReadPaper, hypothesis: str, focus: Focus, *, model: str
) -> CitedAnswer:
    """A short answer whose sentences cite the paper's; with the focus ``results`` it has findings only."""
    sentences = read.paper.sentences
    fields = {"hypothesis": hypothesis, "sentences": numbered(sentences)}
    result = await _result(llm, f"{ASKED}-results" if focus == "results" else ASKED, fields, model)
    return answer_in(result, len(sentences))


async def stance_of(llm: LLM, hypothesis: str, sentence: str, *, model: str) -> str:
    """``supports``, ``against`` or ``neither``; empty where the model's words are none of them."""
    result = await _result(llm, JUDGES["citations"], support_fields(hypothesis, sentence), model)
    return _STANCES.get(read_judgement(result) or "", "")


async def stances_of(llm: LLM, findings: Findings, *, model: str) -> dict[int, str]:
    """The stance of each pick, one call a sentence; without those that could not be read."""
    texts = [findings.read.paper.sentences[index] for index in findings.picks]
    stances = await gather(*(stance_of(llm, findings.hypothesis, text, model=model) for text in texts))
    return {index: stance for index, stance in zip(findings.picks, stances, strict=True) if stance}


async def _result(llm: LLM, name: str, fields: Mapping[str, str], model: str) -> Result:
    return await ask_model(llm, prompt(name).messages(**fields), parameters_of(model, request_settings()))
