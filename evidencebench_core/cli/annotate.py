"""``evidencebench annotate``: proposals by a model, Evidence Inference as a dataset, annotations as a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import advance, carry_out, progress_bar
from evidencebench_core.cli.emit import Output, note, write_file
from evidencebench_core.cli.frame import Store, group, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Progress

_MOST = 0.7  # of the aspects: EvidenceBench keeps papers from there on
ANNOTATE = group("annotate", "Gold by people and models, proposed and exported.")


@verb("propose papers/ --model gpt-4o --estimate", within=ANNOTATE, creates=True)
def propose(
    store: Store,
    model: options.Model,
    work: options.Work,
    papers: Path = Argument(..., metavar="FILE|FOLDER", help="a paper, a folder, or JSON lines"),
    settings: options.Settings = None,
) -> Output:
    """Have a model propose the evidence of papers.

    The papers are kept in the store; *Mark evidence* shows what is proposed. A line of a file of JSON lines has
    "paper" (a file beside it, or an id) and may have "summary", "hypothesis" and "aspects".
    """
    from evidencebench_core.annotation.inputs import proposal_inputs
    from evidencebench_core.annotation.marked import marked_paper
    from evidencebench_core.annotation.propose import proposal_plan, proposer
    from evidencebench_core.annotation.store import Annotations

    inputs, problems = proposal_inputs(store, papers)
    given = options.settings_of(settings)
    plan = proposal_plan(store, inputs, model, given, work.llm(store), fresh=work.again)

    def result(reports: list[Progress]) -> Output:
        rows = []
        for key in [given_input.paper for given_input in inputs]:
            proposal = Annotations(store).get(key, proposer(model))
            marks = [len(aspect.sentences) for aspect in proposal.aspects] if proposal else []
            n_unread = len(proposal.origin.get("unread", ())) if proposal else 0
            counts = {"aspects": len(marks), "marks": sum(marks), "unread": n_unread}
            rows.append({"paper": key, "name": marked_paper(store, key).name} | counts)
        for problem in problems:
            note(f"evidencebench: {problem}")
        return Output({"papers": rows, "problems": problems}, {"": rows}, code=1 if problems else 0)

    return carry_out(store, [plan], work, "paper", result)


@verb("evidence-inference annotations --name ei", within=ANNOTATE, creates=True)
def evidence_inference(
    store: Store,
    folder: Path = Argument(..., metavar="FOLDER", help="`annotations` of Evidence Inference"),
    name: str = Option(..., metavar="N", help="what the dataset is called"),
) -> Output:
    """Make a dataset of doctors' evidence in trials."""
    from evidencebench_core.annotation.evidence_inference import TrialCounts, trial_instances
    from evidencebench_core.data.ingestion import ingest
    from evidencebench_core.export import write_benchmark

    counts = TrialCounts()
    with tempfile.TemporaryDirectory(prefix="evidencebench-") as temporary:
        path = Path(temporary) / "instances.json"
        with path.open("wb") as stream, progress_bar("papers") as bar:
            raws = trial_instances(folder, name, counts, lambda done, total: advance(bar, done, total))
            if not write_benchmark(raws, stream):
                raise SettingError(
                    str(folder), "has no trial to make an instance of", "Give its articles, too."
                )
        result = ingest(store, path, name, source=f"Evidence Inference, {folder.resolve()}")
    for line in counts.unread[:10]:
        note(line)
    figures = {key: value for key, value in vars(counts).items() if isinstance(value, int)}
    rows = [{"count": key.removeprefix("n_").replace("_", " "), "n": value} for key, value in figures.items()]
    rows += [{"count": f"left out: {reason}", "n": n} for reason, n in counts.left_out.items()]
    added = {"dataset": result.dataset.name, "added": result.added}
    return Output(
        vars(counts) | added, {"": rows}, f"Dataset {result.dataset.name}", result.dataset.gold_notes
    )


@verb("export --annotator Ada --out marked.json", within=ANNOTATE)
def export(
    store: Store,
    out: Path | None = Option(None, metavar="FILE", help="write a dataset there"),
    marks: Path | None = Option(None, metavar="FILE", help="write the marks there, for `annotate import`"),
    annotator: str = Option("", metavar="NAME", help="whose marks count, where several marked a paper"),
    undecided: bool = Option(False, "--undecided", help="take proposals that nobody has decided on"),
    min_covered: float = Option(0.0, metavar="S", min=0, max=1, help="least share of aspects with sentences"),
) -> Output:
    """Write what people marked as a dataset, or as marks. Without a file: how many aspects got a sentence."""
    from evidencebench_core.annotation.exchange import marks_json
    from evidencebench_core.annotation.export import exported_annotations
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import write_benchmark
    from evidencebench_core.stats import interval

    if marks is not None:
        write_file(marks, marks_json(store, annotator))
        return Output({"file": str(marks)}, title="Read it elsewhere by `annotate import`")
    exported = exported_annotations(store, annotator=annotator, undecided=undecided, min_covered=min_covered)
    share_name, n_instances = "aspects with a sentence", len(exported.instances)
    rows = [{"paper": name, share_name: share} for name, share in exported.covered.items()]
    if out is not None and n_instances:
        with whole_file(out) as stream:
            write_benchmark(exported.instances.values(), stream)
    licences = ", ".join(f"{licence} ({n})" for licence, n in exported.licences.items())
    notes = [f"Licences of the papers: {licences}"] if licences else []
    if rows:
        mean = interval(list(exported.covered.values())).text()
        n_most = sum(share >= _MOST for share in exported.covered.values())
        notes.append(
            f"Aspects with a sentence: {mean} a paper; {n_most:,} of {len(rows):,} papers have {_MOST:.0%}."
        )
    notes += [f"Left out: {name} {reason}" for name, reason in exported.left_out.items()]
    counts = {name: dict(getattr(exported, name)) for name in ("licences", "left_out", "covered")}
    document = counts | {"instances": n_instances}
    title, code = quantity(n_instances, "instance"), 0 if n_instances else 1
    return Output(document, {"": rows}, title, notes, (share_name,), code=code)


@verb("import marks.json", within=ANNOTATE)
def import_(
    store: Store, file: Path = Argument(..., metavar="FILE", help="of `annotate export --marks`")
) -> Output:
    """Take in marks that were made on another machine."""
    from evidencebench_core.annotation.exchange import import_marks

    rows = [
        {"paper": paper, "annotator": who, "marks": outcome}
        for paper, who, outcome in import_marks(store, file)
    ]
    return Output({"marks": rows}, {"": rows})
