"""The actions of ``evidencebench reliability`` on scores: ``score``, ``compare``, ``card``, ``export``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import Action, add_json, store_of
from evidencebench_core.cli.export import _stream as output
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.tables import print_report
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.words import enumerated, quantity

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report
    from evidencebench_core.reliability.card import CardRow
    from evidencebench_core.reliability.judge import JudgeReport
    from evidencebench_core.reliability.paired import Paired
    from evidencebench_core.reliability.reads import Estimate
    from evidencebench_core.reliability.score import TaskScore

_FIGURES: Final = {
    "weighted_f1": "weighted F1",
    "bias": "bias",
    "refrain_rate": "refrain rate",
    "judged_accuracy": "judged accuracy",
    "judged_f1": "judged weighted F1",
}


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, or the beginning of it")
    parser.add_argument(
        "--judge", metavar="RUN", help="of free text: by this judge's run (default: by the last judge's)"
    )


def _add_score(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    add_json(parser)


def _score(args: argparse.Namespace) -> int:
    """Score a run against its baseline; no model is asked."""
    from evidencebench_core.reliability.card import run_score

    score = run_score(store_of(args), args.run, args.judge)
    if args.json:
        print_json(score.as_dict())
    else:
        print_report(_score_report(score))
    return 0


def _score_report(score: TaskScore) -> Report:
    import pandas as pd

    from evidencebench_core.analyses import Report

    variants = [
        {
            "variant": name or "all",
            "answers": one.n,
            "weighted F1": one.f1_weighted.value,
            "95% interval": _interval(one.f1_weighted),
            "F1 of answered": one.f1_answered,
            "null": one.null_rate,
            **{f"says {label}": share for label, share in one.shares.items() if label != "null"},
        }
        for name, one in score.variants.items()
    ]
    confusion = [{"expected": label, **row} for label, row in score.confusion.items()]
    tables = {"by variant": pd.DataFrame(variants), "read as": pd.DataFrame(confusion)}
    if score.baseline:
        rows = [{"before": state, **row} for state, row in score.baseline.flips.items()]
        tables["against the baseline"] = pd.DataFrame(rows)
    return Report(
        f"{score.task} of {score.items} by {score.model}: {_FIGURES[score.figure]} {_figure(score.value)}",
        {name: table for name, table in tables.items() if len(table)},
        tuple(_score_notes(score)),
    )


def _score_notes(score: TaskScore) -> list[str]:
    notes = [
        f"{quantity(score.n_scored, 'item')} of {score.n_items:,}, {quantity(score.n_probes, 'answer')};"
        f" labels by {'RAmBLA’s' if score.as_published else 'our'} reader"
    ]
    if score.left_out:
        notes.append(f"left out: {_counts(score.left_out)}")
    if score.nulls:
        notes.append(f"no label: {_counts(score.nulls)}")
    if score.readers_differ:
        values = ", ".join(f"{name} {_number(value)}" for name, value in score.readers.items())
        notes.append(f"RAmBLA's reader and ours read {score.readers_differ:,} answers differently: {values}")
    constants = {**score.constants, **score.annotators}
    if constants:
        values = ", ".join(f"{name} {_number(value)}" for name, value in constants.items())
        notes.append(f"what others would get: {values}")
    if score.bias:
        notes += [
            f"{name}: {_figure(getattr(score.bias, name))}" for name in ("signed", "primacy", "recency")
        ]
    if score.refrain_gap:
        notes.append(
            f"refrain rate of the wrong context minus that of the right one: {_figure(score.refrain_gap)}"
        )
    if score.followed:
        n, of = score.followed
        notes.append(f"followed the text: {n:,} of the {of:,} items that were right before")
    if score.figure.startswith("judged"):
        notes += _judge_notes(score.judged)
    if score.n_unreviewed:
        notes.append(f"nobody has reviewed the wording of {quantity(score.n_unreviewed, 'question')}")
    if score.baseline:
        notes += _paired_notes(score.baseline, "against the baseline")
    return notes


def _judge_notes(judged: JudgeReport | None) -> list[str]:
    if judged is None:
        return ["answers in free text are scored once a judge has read them: evidencebench reliability judge"]
    own = ", the model itself" if judged.is_model_under_test else ""
    notes = [f"judged by {judged.judge}{own}: {quantity(judged.n_judged, 'text')}"]
    if judged.not_sent:
        notes.append(f"not sent to the judge: {_counts(judged.not_sent)}")
    if judged.corrected:
        notes.append(f"corrected for the judge's errors on {judged.pairs_of}: {_figure(judged.corrected)}")
    return notes


def _paired_notes(pair: Paired, words: str) -> list[str]:
    p = "" if pair.p_value is None else f", p {pair.p_value:.4f}"
    return [
        f"{words} (run {pair.run}), {_FIGURES.get(pair.figure, pair.figure)}: {_figure(pair.difference)}{p},"
        f" over {quantity(pair.n, 'pair')}",
        f"same label in both: {_number(pair.consistency)} of all,"
        f" {_number(pair.consistency_answered)} of those answered in both",
    ]


def _add_compare(parser: argparse.ArgumentParser) -> None:
    for name in ("a", "b"):
        parser.add_argument(name, metavar="RUN", help="its id, or the beginning of it")
    add_json(parser)


def _compare(args: argparse.Namespace) -> int:
    """Compare two runs of one task, such as of two models, answer by answer: the first minus the second."""
    import pandas as pd

    from evidencebench_core.analyses import Report
    from evidencebench_core.reliability.card import compare_runs
    from evidencebench_core.reliability.runs import reliability_run
    from evidencebench_core.reliability.score import plain

    store = store_of(args)
    pair = compare_runs(store, args.a, args.b)
    if args.json:
        print_json({"a": reliability_run(store, args.a).id, "b": pair.run, **plain(pair)})
        return 0
    first = reliability_run(store, args.a)
    flips = pd.DataFrame([{f"{pair.model}": state, **row} for state, row in pair.flips.items()])
    title = f"{first.task.name}: {first.model} (run {first.id}) minus {pair.model} (run {pair.run})"
    print_report(
        Report(title, {f"{pair.model}, then {first.model}": flips}, tuple(_paired_notes(pair, "difference")))
    )
    return 0


def _add_card(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("items", metavar="ITEMS", help="an item set in the store")
    parser.add_argument("--model", metavar="M", required=True, help="the model that was asked")
    parser.add_argument("--as-published", action="store_true", help="its runs of the paper's construction")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write it as one page in plain words, to read and print"
    )
    add_json(parser)


def _card(args: argparse.Namespace) -> int:
    """Every task that a model was asked of an item set, each with its figure; no model is asked."""
    import pandas as pd

    from evidencebench_core.analyses import Report
    from evidencebench_core.reliability.card import model_card

    card = model_card(store_of(args), args.items, args.model, args.as_published)
    if not card.rows:
        problem = f"has no runs over {shown(args.items)}{' as published' if args.as_published else ''}"
        remedy = "Start one with `evidencebench reliability run`."
        raise UnknownNameError(f"model {shown(args.model)}", problem, remedy)
    if args.html is not None:
        from evidencebench_core.export.card import card_html

        with output(args.html) as stream:
            stream.write(card_html(card, datetime.now(UTC).isoformat(timespec="seconds")).encode())
        note(f"Written to {args.html}")
    if args.json:
        print_json(card.as_dict())
    elif args.html is None:
        table = pd.DataFrame([_card_row(row) for row in card.rows])
        print_report(Report(f"{card.model} on {card.items}", {"tasks": table}))
        if waiting := [row.task.name for row in card.rows if row.task.judge_prompt and not row.score.judged]:
            command = "evidencebench reliability judge RUN --model JUDGE"
            note(
                f"Free text that nobody has judged yet: {enumerated(waiting)}. Have it judged with `{command}`."
            )
    return 0


def _setting(named: tuple[str, Any]) -> str:
    name, value = named
    return f"{name}={'+'.join(value) if isinstance(value, tuple) else value}"


def _card_row(row: CardRow) -> dict[str, Any]:
    score = row.score
    return {
        "task": " ".join([row.task.name, *map(_setting, row.differs.items())]),
        "figure": _FIGURES[score.figure],
        "value": score.value.value,
        "95% interval": _interval(score.value),
        "null": score.null_rate,
        "constant": max((one for one in score.constants.values() if one is not None), default=None),
        "minus baseline": score.baseline.difference.value if score.baseline else None,
        "p (Holm)": row.p_holm,
        "answers": score.n_probes,
        "run": score.run,
    }


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("--format", choices=("csv", "json"), required=True, help="csv: a row an answer")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file (default: standard output)")


def _export(args: argparse.Namespace) -> int:
    """Write every answer with what was asked, how it was read and what was right; json: and the score."""
    from evidencebench_core.export import csv_text
    from evidencebench_core.llm.request import json_bytes
    from evidencebench_core.reliability.card import run_score

    score = run_score(store_of(args), args.run, args.judge)
    frame = score.frame()
    frame["answer"] = [
        one.result if isinstance(one.result, str) else one.result["text"] for one in score.reads
    ]
    frame["fields"] = [json.dumps(dict(one.probe.fields), ensure_ascii=False) for one in score.reads]
    frame["changed"] = [json.dumps(dict(one.probe.details), ensure_ascii=False) for one in score.reads]
    if args.format == "csv":
        content = csv_text(frame).encode("utf-8", "backslashreplace")
    else:
        answers = [
            {**row, "fields": dict(one.probe.fields), "changed": dict(one.probe.details)}
            for row, one in zip(_records(frame), score.reads, strict=True)
        ]
        content = json_bytes({**score.as_dict(), "answers": answers}) + b"\n"
    with output(args.out) as stream:
        stream.write(content)
    if args.out is not None:
        note(f"{quantity(len(frame), 'answer')} written to {args.out}")
    return 0


def _records(frame: Any) -> list[dict[str, Any]]:
    """The rows as JSON-able values."""
    from evidencebench_core.analyses.report import records

    found: list[dict[str, Any]] = records(frame)
    return found


def _counts(counts: Mapping[str, int]) -> str:
    return enumerated([f"{reason} ({n:,})" for reason, n in counts.items()])


def _figure(estimate: Estimate) -> str:
    interval = _interval(estimate)
    return f"{_number(estimate.value)}{f' [{interval}]' if interval else ''}"


def _interval(estimate: Estimate) -> str:
    return "" if estimate.ci95 is None else f"{estimate.ci95[0]:.4f} to {estimate.ci95[1]:.4f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


ACTIONS: Final[dict[str, Action]] = {
    "score": ("score a run, against its baseline", _add_score, _score),
    "compare": ("compare two runs of one task answer by answer", _add_compare, _compare),
    "card": ("show every task that a model was asked of an item set", _add_card, _card),
    "export": ("write every answer of a run, and how it was read", _add_export, _export),
}
