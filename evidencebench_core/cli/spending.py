"""Shared by the verbs that ask a server: their arguments, and lines on calls, tokens and money."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import positive
from evidencebench_core.cli.output import note
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM, Spending
    from evidencebench_core.runs import RunEstimate


def add_server(parser: argparse.ArgumentParser) -> None:
    """``--concurrency``, ``--fresh`` and the caps."""
    from evidencebench_core.llm import prices_path, prompt_folder, prompts

    server = parser.add_argument_group(
        "asking a server",
        "Which one: OPENAI_BASE_URL and OPENAI_API_KEY, as for the openai package."
        f" Your own prices: {prices_path()}. Your own prompts: copy one of ours ({Path(prompts.__path__[0])}) to"
        f" {prompt_folder()} under another name, change it, and say --set strategy=cot --set prompt=NAME.",
    )
    server.add_argument("--concurrency", type=positive, metavar="N", help="calls at once (default: 8)")
    for what in ("requests", "tokens"):
        server.add_argument(
            f"--{what}-per-minute",
            type=positive,
            metavar="N",
            help=f"no more {what} a minute than that (default: what the server says of its limits)",
        )
    server.add_argument(
        "--first-byte", type=positive, metavar="S", help="seconds until an answer begins (default: 900)"
    )
    server.add_argument(
        "--timeout", type=positive, metavar="S", help="seconds until an answer is whole (default: 1800)"
    )
    server.add_argument(
        "--fresh", action="store_true", help="ask again for what is answered already, and pay again"
    )
    server.add_argument("--max-calls", type=positive, metavar="N", help="stop before more calls than that")
    server.add_argument("--max-tokens", type=positive, metavar="N", help="stop before more tokens than that")
    server.add_argument(
        "--max-cost",
        type=_dollars,
        metavar="X",
        help="stop before more dollars than that, by the table of prices",
    )


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of dollars above 0")
    return value


def server_llm(store: Store, args: argparse.Namespace) -> LLM:
    """The server in force, asked as the arguments of `add_server` say, with its answers kept in the store."""
    from evidencebench_core.llm import LLM, AnswerCache, Budget, Limits, Timeouts

    budget = Budget(calls=args.max_calls, tokens=args.max_tokens, money=args.max_cost)
    limits = Limits(
        **_given(
            concurrency=args.concurrency,
            requests_per_minute=args.requests_per_minute,
            tokens_per_minute=args.tokens_per_minute,
        )
    )
    timeouts = Timeouts(**_given(first_byte=args.first_byte, total=args.timeout))
    return LLM(answers=AnswerCache(store), budget=budget, limits=limits, timeouts=timeouts)


def _given(**values: float | None) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


_SERVER_ARGUMENTS = (
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "first_byte",
    "timeout",
    "max_calls",
    "max_tokens",
    "max_cost",
    "fresh",
)


def check_no_server_arguments(args: argparse.Namespace, retriever: str) -> None:
    """Raise a `SettingError` if one of the arguments of `add_server` is given."""
    for name in _SERVER_ARGUMENTS:
        if getattr(args, name) not in (None, False):
            raise SettingError(
                f"--{name.replace('_', '-')}",
                f"is for retrievers that ask a server, and {retriever} does not",
                "Leave it out.",
            )


def tell_estimate(estimate: RunEstimate) -> None:
    """Print the cost of a run that is to come, on stderr."""
    if not estimate.calls:
        kept = estimate.cached
        stored = f": {quantity(kept, 'answer')} {'is' if kept == 1 else 'are'} in the store" if kept else ""
        note(f"Nothing is left to ask {estimate.model}{stored}.")
        return
    tokens = estimate.prompt_tokens + estimate.completion_tokens
    stored = f" ({estimate.cached:,} more are in the store)" if estimate.cached else ""
    note(
        f"To ask {estimate.model}: about {quantity(estimate.calls, 'call')}{stored} for"
        f" {quantity(estimate.n_instances, 'instance')}, {tokens:,} tokens"
        f" ({estimate.prompt_tokens:,} of prompts), {_estimated_money(estimate)}."
    )


def _estimated_money(estimate: RunEstimate) -> str:
    price, money = estimate.price, estimate.money
    if price is None or money is None:
        from evidencebench_core.llm import prices_path

        return f"at a price that is not known (put it into {prices_path()})"
    since = f", prices of {price.date}" if price.date else ""
    return f"about ${money:,.2f} (${price.prompt:g} and ${price.completion:g} per million{since})"


def tell_unlisted(llm: LLM, model: str) -> None:
    """A warning on stderr if the server lists models, and none of that name; nothing if it has no list.

    Some servers answer any name with the model that they have (llama-cpp-python does), and the run would
    stand under a wrong name.
    """
    from evidencebench_core.errors import LLMError
    from evidencebench_core.llm import has_model, listed_models

    try:
        listed = listed_models(llm.connection)
    except LLMError:  # asking tells it, with a remedy
        return
    if listed and not has_model(listed, model):
        note(
            f"{llm.connection.address} does not list {model}, but {', '.join(listed[:5])}"
            f"{', …' * (len(listed) > 5)}: it may refuse, or answer with another model under that name."
        )


def tell_spending(spent: Spending) -> None:
    """Print the cost of a run that has ended, on stderr."""
    tokens = f"{spent.tokens:,} tokens ({spent.prompt_tokens:,} of prompts)"
    guessed = f", {spent.estimated:,} calls with tokens estimated by us" if spent.estimated else ""
    perhaps = (
        f", {spent.perhaps_billed:,} without an answer but perhaps billed" if spent.perhaps_billed else ""
    )
    cost = "at a price that is not known" if spent.money is None else f"${spent.money:,.4f}"
    note(
        f"It took {quantity(spent.calls, 'call')}{perhaps}, {quantity(spent.cached, 'answer')} from the store,"
        f" {spent.failed:,} failed; {tokens}{guessed}, {cost}."
    )
