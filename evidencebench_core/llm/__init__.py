"""Language models on any OpenAI-compatible server: asking, keeping answers, reading them, counting the cost."""

from __future__ import annotations

from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.client import LLM, listed_models, one_word
from evidencebench_core.llm.connection import (
    Connection,
    connection_from_environment,
    current_connection,
    using,
)
from evidencebench_core.llm.conversation import (
    Ask,
    Conversation,
    Planned,
    answer_of,
    converse,
    planned,
    result_of,
    results,
    stored,
)
from evidencebench_core.llm.limiter import Limits, Timeouts
from evidencebench_core.llm.parse import (
    OutcomeKind,
    ParsedAnswer,
    parsed_aspects,
    parsed_hypothesis,
    read_answer,
)
from evidencebench_core.llm.prices import (
    Price,
    estimated_prompt_tokens,
    estimated_tokens,
    price_of,
    prices,
    prices_path,
)
from evidencebench_core.llm.prompts import (
    Prompt,
    focus_phrase,
    numbered,
    prompt,
    prompt_folder,
    prompt_names,
    prompt_version,
)
from evidencebench_core.llm.replies import has_model
from evidencebench_core.llm.request import Answer, ChatRequest, EmbeddingRequest, Message
from evidencebench_core.llm.sender import ConnectionBroken, RawReply

__all__ = [
    "LLM",
    "Answer",
    "AnswerCache",
    "Ask",
    "Budget",
    "ChatRequest",
    "Connection",
    "ConnectionBroken",
    "Conversation",
    "EmbeddingRequest",
    "Limits",
    "Message",
    "OutcomeKind",
    "ParsedAnswer",
    "Planned",
    "Price",
    "Prompt",
    "RawReply",
    "Spending",
    "Timeouts",
    "answer_of",
    "connection_from_environment",
    "converse",
    "current_connection",
    "estimated_prompt_tokens",
    "estimated_tokens",
    "focus_phrase",
    "has_model",
    "listed_models",
    "numbered",
    "one_word",
    "parsed_aspects",
    "parsed_hypothesis",
    "planned",
    "price_of",
    "prices",
    "prices_path",
    "prompt",
    "prompt_folder",
    "prompt_names",
    "prompt_version",
    "read_answer",
    "result_of",
    "results",
    "stored",
    "using",
]
