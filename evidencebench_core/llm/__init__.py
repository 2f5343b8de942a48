"""Language models on any OpenAI-compatible server: asking, keeping answers, reading them, counting the cost."""

from __future__ import annotations

from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.client import LLM, listed_models, one_word
from evidencebench_core.llm.connection import Connection, connection_from_environment, using
from evidencebench_core.llm.conversation import (
    Ask,
    Conversation,
    Planned,
    answer_of,
    planned,
    results,
    stored,
)
from evidencebench_core.llm.limiter import Limits, Timeouts
from evidencebench_core.llm.prices import Price, price_of, prices, prices_path
from evidencebench_core.llm.prompts import Prompt, prompt, prompt_folder, prompt_names
from evidencebench_core.llm.replies import has_model
from evidencebench_core.llm.request import Answer, ChatRequest, EmbeddingRequest, Message

__all__ = [
    "LLM",
    "Answer",
    "AnswerCache",
    "Ask",
    "Budget",
    "ChatRequest",
    "Connection",
    "Conversation",
    "EmbeddingRequest",
    "Limits",
    "Message",
    "Planned",
    "Price",
    "Prompt",
    "Spending",
    "Timeouts",
    "answer_of",
    "connection_from_environment",
    "has_model",
    "listed_models",
    "one_word",
    "planned",
    "price_of",
    "prices",
    "prices_path",
    "prompt",
    "prompt_folder",
    "prompt_names",
    "results",
    "stored",
    "using",
]
