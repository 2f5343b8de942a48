"""``evidencebench make-variants --dataset N --model M``"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import counted, note, plain, print_json
from evidencebench_core.cli.spending import add_server, server_session, spending_document, tell_spending

if TYPE_CHECKING:
    from evidencebench_core.perturb.made import MadeVariant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model, as the server calls it")
    parser.add_argument(
        "--kind",
        action="append",
        choices=("paraphrase", "negation"),
        help="what to make (may be repeated; default: both)",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write (default: variants-DATASET-MODEL.json)"
    )
    add_server(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file; as JSON what is in it, what was refused and why, and what it took."""
    from evidencebench_core.errors import LLMError
    from evidencebench_core.perturb.made import KINDS, made_variants, written_variants

    store = store_of(args)
    kinds = tuple(kind for kind in KINDS if kind in (args.kind or KINDS))
    path = args.out or Path(f"variants-{_plain_name(args.dataset)}-{_plain_name(args.model)}.json")
    n_asked = len(store.ids(args.dataset, args.limit)) * len(kinds)
    session = server_session(store, args)
    note(f"To ask {args.model} for {counted(n_asked, 'wording')}: as many calls, less those in the store.")
    made: list[MadeVariant] = []
    stopped: LLMError | None = None
    try:
        for one in made_variants(
            store,
            args.dataset,
            args.model,
            session.client,
            kinds=kinds,
            limit=args.limit,
            concurrency=args.concurrency or 8,
            fresh=args.fresh,
        ):
            made.append(one)  # noqa: PERF402 - what came before an error counts
    except LLMError as error:
        if not any(one.text for one in made):
            raise
        stopped = error
    finally:
        tell_spending(session)
    written = written_variants(path, made, args.model, kinds)
    refused = [one for one in made if one.text is None]
    if args.json:
        print_json(
            {
                "file": str(path),
                "written": written,
                "refused": [
                    {"instance": one.instance_id, "kind": one.kind, "problem": one.problem} for one in refused
                ],
                "spending": spending_document(session),
            }
        )
    else:
        print(plain(f"{counted(written, 'wording')} in {path}; {len(refused):,} refused"))
        for one in refused[:10]:
            print(plain(f"  {one.instance_id}, {one.kind}: {one.problem}"))
        print("Read them before use; then: evidencebench run ... --variants FILE --variant negation")
    if stopped is not None:
        note(f"evidencebench: {stopped}")
        return 1
    return 0


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "all"
