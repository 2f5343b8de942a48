"""Sheets that people fill in: written, read, and what both sides of a comparison print (``construct quality``)."""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.construction.sheets import SheetFigures
    from evidencebench_core.construction.state import BuildState
    from evidencebench_core.stats.three_raters import AgreementGap

_MOST_BYTES: Final = 256 << 20


def look_at_all(made: Construction) -> None:
    """Note on stderr how many builds nothing is known of, and are left out."""
    if n := made.funnel().n_unknown:
        note(
            f"{quantity(n, 'build')} not looked at with these settings, and left out:"
            f" `evidencebench construct run --name {made.name}` looks at them"
        )


def print_agreement(measures: Mapping[str, Mapping[str, Any]]) -> None:
    rows = [
        (
            name,
            percent(one["value"]),
            interval(one["plain"]),
            interval(one["hierarchical"]),
        )
        for name, one in measures.items()
    ]
    print_table(("measure", "percent", "95% by judgement", "95% by paper"), rows, right=("percent",))


def gap_figures(of: Mapping[str, AgreementGap], args: argparse.Namespace) -> dict[str, Any]:
    return {name: asdict(one) | {"is_equivalent": one.is_equivalent(args.margin)} for name, one in of.items()}


def print_gaps(gaps: Mapping[str, AgreementGap], margin: float) -> None:
    if gaps:
        print("\nGap: the two people's agreement less that of each with the model")
        words = {None: "–", True: "yes", False: "not shown"}
        print_table(
            ("measure", "gap", "95% by paper", "p by paper", "alike"),
            [
                (
                    name,
                    percent(one.gap),
                    interval(one.hierarchical),
                    p_value(one.p_hierarchical),
                    words[one.is_equivalent(margin)],
                )
                for name, one in gaps.items()
            ],
            right=("gap", "p by paper"),
        )
        print(
            f"Alike: the interval lies within {percent(margin)} points."
            " No significant gap is no proof that there is none."
        )


def write_sheet(made: Construction, args: argparse.Namespace) -> int:
    from evidencebench_core.construction.sheets import QUESTIONS, sheet_rows

    if args.out is None:
        raise SettingError("--out", "is not given", "Say where the sheet is to be written: --out FILE.csv.")
    look_at_all(made)
    kept = [build for build, at in made.positions("kept").items()]
    ids = sorted(
        sorted(kept, key=lambda one: hashlib.sha256(f"{args.seed}\n{one}".encode()).digest())[: args.builds]
    )
    rows = list(sheet_rows(made.states(ids), args.sheet, args.seed, every_sentence=args.every_sentence))
    if not rows:
        remedy = f"`evidencebench construct status {made.name}` says how far its builds are."
        raise SettingError(
            f"sheet {args.sheet}", "has no row: no build is kept that has what it asks for", remedy
        )
    _write_csv(args.out, rows)
    questions = QUESTIONS[args.sheet]
    if args.json:
        print_json(
            {"out": str(args.out), "rows": len(rows), "builds": len(ids), "questions": dict(questions)}
        )
    else:
        print(one_line(f"{quantity(len(rows), 'row')} of {quantity(len(ids), 'build')} are in {args.out}"))
        for name, question in questions.items():
            answers = "supports, refutes or neither" if name == "stance" else "yes or no"
            print(f"  {name}: {question} Write {answers}.")
        print("Name who answers in the column rater; then: quality N --read FILE...")
    return 0


def _write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export.tables import cell

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode())


def against(made: Construction, args: argparse.Namespace) -> int:
    """Two decompositions of the same summaries; as JSON one object: counts and F1 with intervals."""
    from evidencebench_core.construction.decompositions import decomposition_figures, pair_rows, pairs_of
    from evidencebench_core.construction.pipeline import construction

    other = construction(made.store, args.against)
    ids = sorted(set(made.ids()) & set(other.ids()))

    def both() -> Iterator[tuple[BuildState, BuildState]]:
        return zip(made.states(ids), other.states(ids), strict=True)

    if args.out is not None:
        rows = list(pair_rows(both()))
        if not rows:
            remedy = f"They need builds of the same ids and summaries: construct list {other.name}."
            raise SettingError(f"{made.name} and {other.name}", "have no summary in common", remedy)
        _write_csv(args.out, rows)
        print(one_line(f"{quantity(len(rows), 'row')} are in {args.out}: correct the column b, then --pairs"))
        return 0
    found = decomposition_figures(both(), pairs_of(_rows(args.pairs), both()) if args.pairs else None)
    if args.json:
        print_json(found.as_dict())
        return 0
    print(
        f"{quantity(found.n_builds, 'build')} of {len(ids):,} with the same id have aspects of one summary in both:"
        f" {found.n_first:,} and {found.n_second:,} aspects, {found.n_matched:,} matched"
    )
    said = {
        "aspects that match": found.aspects,
        "sentences that cover matched aspects": found.marks,
        "sentences that cover any aspect": found.evidence,
    }
    rows_of = [(name, percent(one.value), interval(one.ci95)) for name, one in said.items()]
    print_table(("F1 of", "percent", "95% interval"), rows_of, right=("percent",))
    return 0


def read_sheets(made: Construction, args: argparse.Namespace) -> int:
    from evidencebench_core.construction.sheets import sheet_figures
    from evidencebench_core.construction.stances import stances

    rows = [row for path in args.read for row in _rows(path)]
    builds = set(made.ids()) & {row.get("build", "") for row in rows}
    ids = sorted(builds)
    found = sheet_figures(made.states(ids), rows, stances(made, made.states(ids)))
    if args.json:
        print_json(asdict(found) | {"gaps": gap_figures(found.gaps, args)})
        return 0
    _print_figures(found, args.margin)
    return 0


def _rows(path: Path) -> Iterator[dict[str, str]]:
    from evidencebench_core.data.files import file_content

    remedy = "Give a sheet that was written with --sheet, as CSV."
    text = file_content(path, _MOST_BYTES, remedy).decode("utf-8-sig", errors="replace")
    delimiter = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    try:
        lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        for row in lines:
            yield {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", remedy) from error


def _print_figures(of: SheetFigures, margin: float) -> None:
    left = [f"{n:,} {what}" for n, what in ((of.n_blank, "blank"), (of.n_changed, "about what has changed since"),
                                            (of.n_doubled, "answered twice by one rater")) if n]  # fmt: skip
    print(f"{quantity(of.n_rows, 'row')}" + (f", not used: {', '.join(left)}" if left else ""))
    rows = []
    for name, one in of.questions.items():
        rows.append(
            (
                name,
                f"{one['n_yes']:,} of {one['n']:,}",
                percent(one["share"]),
                interval(one["exact"] or one["ci95"]),
            )
        )
    if rows:
        print_table(("question", "yes", "percent", "95% interval"), rows, right=("yes", "percent"))
    for name, one in of.questions.items():
        for words in one["words"][:10]:
            print(one_line(f"{name}, in words: {words}"))
    if of.stances:
        print("Aspects: " + ", ".join(f"{name} {percent(share)} %" for name, share in of.stances.items()))
    if same := of.stance_agreement:
        value, bounds = percent(same["value"]), interval(same["ci95"])
        print(f"The model says the same of {value} % ({bounds}) of {same['n']:,} that it was asked about")
    if of.precision and of.recall:
        print(
            f"Proposed marks that are right: {percent(of.precision['value'])} % ({interval(of.precision['ci95'])}),"
            f" {of.precision['n']:,} judged. Of all that are right, proposed: about {percent(of.recall['value'])} %"
            f" ({interval(of.recall['ci95'])}), estimated from {of.recall['n']:,} others."
        )
    for one in of.raters:
        print()
        print(one_line(f"{one['what']}: {one['a']} and {one['b']}, {quantity(one['n'], 'answer')}"))
        print_agreement(one["measures"])
    print_gaps(of.gaps, margin)
