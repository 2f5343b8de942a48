"""Language models on any OpenAI-compatible server: send requests, keep and read answers, control the cost."""

from evidencebench_core.llm.answers import Answer, Call, Message
from evidencebench_core.llm.budget import Budget, Forecast, Spending, price_of
from evidencebench_core.llm.client import LLM
from evidencebench_core.llm.connection import Connection, connection_from_environment
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.work import Work, answer_of, has_model, listed_models, rehearse, results
