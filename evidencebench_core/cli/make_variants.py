"""``evidencebench make-variants --dataset N --model M``, and the review of what it made"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import counted, note, plain, print_json
from evidencebench_core.cli.spending import add_server, server_session, spending_document, tell_spending

if TYPE_CHECKING:
    from evidencebench_core.perturb import Draft


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    from evidencebench_core.cli.variant_drafts import add_review

    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--model", metavar="M", help="make wordings with this model, as the server calls it")
    add_review(what, parser)
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
    """Keep drafts and write the file; as JSON what is in it, what was refused and why, and what it took."""
    if args.model is None:
        from evidencebench_core.cli.variant_drafts import review

        return review(args)
    from evidencebench_core.errors import LLMError
    from evidencebench_core.perturb import Drafts
    from evidencebench_core.perturb.making import KINDS, new_drafts

    store = store_of(args)
    drafts = Drafts(store, args.dataset)
    kinds = tuple(kind for kind in KINDS if kind in (args.kind or KINDS))
    path = args.out or Path(f"variants-{_plain_name(args.dataset)}-{_plain_name(args.model)}.json")
    n_asked = len(store.ids(args.dataset, args.limit)) * len(kinds)
    session = server_session(store, args)
    note(f"To ask {args.model} for {counted(n_asked, 'wording')}: as many calls, less those in the store.")
    made: list[Draft] = []
    stopped: LLMError | None = None
    try:
        for one in new_drafts(
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
        if all(one.problem for one in made):
            raise
        stopped = error
    finally:
        tell_spending(session)
        drafts.add(made)
    written = _write(path, made)
    refused = [one for one in made if one.problem]
    counts = drafts.counts()
    if args.json:
        print_json(
            {
                "file": str(path),
                "written": written,
                "refused": [
                    {"instance": one.instance_id, "kind": one.kind, "problem": one.problem} for one in refused
                ],
                "drafts": counts,
                "spending": spending_document(session),
            }
        )
    else:
        print(plain(f"{counted(written, 'wording')} in {path}; {len(refused):,} refused"))
        for one in refused[:10]:
            print(plain(f"  {one.instance_id}, {one.kind}: {one.problem}"))
        print(
            f"{counted(counts['waiting'], 'draft')} to be read before use: on the page Wording of the app, or here"
            " with --list, then --accept ID ... (--reject ID ...); then: evidencebench run ... --variant negation"
        )
    if stopped is not None:
        note(f"evidencebench: {stopped}")
        return 1
    return 0


def _write(path: Path, drafts: list[Draft]) -> int:
    """Write what is usable; returns how many wordings that is."""
    from evidencebench_core.errors import SettingError
    from evidencebench_core.perturb import Wording, write_wordings

    wordings: dict[str, dict[str, Wording]] = {}
    for one in drafts:
        if not one.problem:
            wordings.setdefault(one.name, {})[one.instance_id] = Wording(one.text, one.made_by)
    if not wordings:
        raise SettingError(str(path), "would be empty: no usable wording came", "Try another model.")
    return write_wordings(path, wordings)


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "all"
