"""Shared by the verbs that ask a server: their arguments, and lines on calls, tokens and money."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import positive
from evidencebench_core.cli.output import note
from evidencebench_core.errors import LLMError, SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM, Spending
    from evidencebench_core.runs import RunEstimate


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of dollars above 0")
    return value


_LEARNT: Final = "(default: what the server says of its limits)"
_NUMBERS: Final = (
    ("--concurrency", positive, "N", "calls at once (default: 8)"),
    ("--requests-per-minute", positive, "N", f"no more requests a minute than that {_LEARNT}"),
    ("--tokens-per-minute", positive, "N", f"no more tokens a minute than that {_LEARNT}"),
    ("--timeout", positive, "S", "seconds without a byte after which a call is sent again (default: 900)"),
    ("--max-calls", positive, "N", "stop before more calls than that"),
    ("--max-tokens", positive, "N", "stop before more tokens than that"),
    ("--max-cost", _dollars, "X", "stop before more dollars than that, by the table of prices"),
)


def add_server(parser: argparse.ArgumentParser) -> None:
    """Limits, timeouts and caps, and ``--fresh``."""
    from evidencebench_core.llm import prices_path, prompt_folder, prompts

    server = parser.add_argument_group(
        "asking a server",
        "Which one: OPENAI_BASE_URL and OPENAI_API_KEY, as for the openai package."
        f" Your own prices: {prices_path()}. Your own prompts: copy one of ours ({Path(prompts.__path__[0])}) to"
        f" {prompt_folder()} under another name, change it, and say --set strategy=cot --set prompt=NAME.",
    )
    for flag, kind, metavar, text in _NUMBERS:
        server.add_argument(flag, type=kind, metavar=metavar, help=text)
    server.add_argument(
        "--fresh", action="store_true", help="ask again for what is answered already, and pay again"
    )


def server_llm(store: Store, args: argparse.Namespace) -> LLM:
    """The server in force, asked as the arguments of `add_server` say, with its answers kept in the store."""
    from evidencebench_core.llm import LLM, Budget, Limits

    limits = {
        name: getattr(args, name)
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout")
    }
    return LLM(
        store=store,
        budget=Budget(calls=args.max_calls, tokens=args.max_tokens, money=args.max_cost),
        limits=Limits(**{name: value for name, value in limits.items() if value is not None}),
    )


def check_no_server_arguments(args: argparse.Namespace, retriever: str) -> None:
    """Raise a `SettingError` if one of the arguments of `add_server` is given."""
    for flag in (*(number[0] for number in _NUMBERS), "--fresh"):
        if getattr(args, flag[2:].replace("-", "_")):
            raise SettingError(
                flag, f"is for retrievers that ask a server, and {retriever} does not", "Leave it out."
            )


def check_server(llm: LLM, model: str) -> None:
    """Raise if the server's address or key can be none; a note where it cannot be reached, or lists no such model.

    Some servers answer any name with the model that they have (llama-cpp-python does), and the run would
    stand under a wrong name.
    """
    from evidencebench_core.llm import has_model, listed_models

    try:
        listed = listed_models(llm.connection)
    except LLMError as error:
        note(str(error))  # it may be starting, or refuse no more than its list
        return
    if listed and not has_model(listed, model):
        note(
            f"{llm.connection.address} does not list {model}, but {', '.join(listed[:5])}"
            f"{', …' * (len(listed) > 5)}: it may refuse, or answer with another model under that name."
        )


def print_estimate(estimate: RunEstimate, noun: str = "instance") -> None:
    """The cost of a run that is to come, on stderr; ``noun`` is what ``n_instances`` counts."""
    kept = estimate.cached
    if not estimate.calls:
        stored = f": {quantity(kept, 'answer')} {'is' if kept == 1 else 'are'} in the store" if kept else ""
        note(f"Nothing is left to ask {estimate.model}{stored}.")
        return
    tokens = estimate.prompt_tokens + estimate.completion_tokens
    note(
        f"To ask {estimate.model}: about {quantity(estimate.calls, 'call')}"
        f"{f' ({kept:,} more are in the store)' if kept else ''} for {quantity(estimate.n_instances, noun)},"
        f" {tokens:,} tokens ({estimate.prompt_tokens:,} of prompts), {_estimated_money(estimate)}."
    )


def _estimated_money(estimate: RunEstimate) -> str:
    price, money = estimate.price, estimate.money
    if price is None or money is None:
        from evidencebench_core.llm import prices_path

        return f"at a price that is not known (put it into {prices_path()})"
    since = f", prices of {price.date}" if price.date else ""
    return f"about ${money:,.2f} (${price.prompt:g} and ${price.completion:g} per million{since})"


def print_spending(spent: Spending) -> None:
    """The cost of a run that has ended, on stderr; nothing where nothing was asked."""
    if not (spent.calls or spent.cached or spent.failed):
        return
    guessed = f", {spent.estimated:,} calls with tokens estimated by us" if spent.estimated else ""
    cost = "at a price that is not known" if spent.money is None else f"${spent.money:,.4f}"
    note(
        f"It took {quantity(spent.calls, 'call')}, {quantity(spent.cached, 'answer')} from the store,"
        f" {spent.failed:,} failed; {spent.tokens:,} tokens ({spent.prompt_tokens:,} of prompts){guessed}, {cost}."
    )
