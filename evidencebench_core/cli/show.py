"""``evidencebench show INSTANCE`` and ``evidencebench retrievers``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import print_json, print_wrapped, text_columns
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers import RetrieverEntry, Setting


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instance", metavar="INSTANCE", help="id of the instance")
    parser.add_argument("--dataset", metavar="NAME", help="the dataset it is in, if it is in several")
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Print an instance: for reading, or as JSON in the benchmark's own format."""
    store = store_of(args)
    dataset, instance = _instance(store, args.instance, args.dataset)
    if args.json:
        print_json({instance.id: store.raw(dataset, instance.id)})
        return 0
    columns = text_columns()
    _print_gold(dataset, instance, columns)
    _print_paper(instance, columns)
    return 0


def _instance(store: Store, instance_id: str, dataset: str | None) -> tuple[str, Instance]:
    from evidencebench_core.errors import SettingError, UnknownNameError, shown

    if dataset is not None:
        return dataset, store.get(dataset, instance_id)
    found = []
    for info in store.datasets():
        try:
            found.append((info.name, store.get(info.name, instance_id)))
        except UnknownNameError:
            continue
    if len(found) > 1:
        names = ", ".join(name for name, _ in found)
        raise SettingError(
            f"instance {shown(instance_id)}", f"is in several datasets: {names}", "Say which with --dataset."
        )
    if not found:
        names = ", ".join(info.name for info in store.datasets()) or "none"
        raise UnknownNameError(
            f"instance {shown(instance_id)}",
            f"is in no dataset of {store.path}; its datasets: {names}",
            "Check the id, or bring its dataset in with `evidencebench ingest FILE`.",
        )
    return found[0]


def _print_gold(dataset: str, instance: Instance, columns: int) -> None:
    evidence = instance.evidence
    n_results = len(evidence.focused("results"))
    results = f", for the results {evidence.results_optimal}" if evidence.results_optimal else ""
    made_up = ", synthetic" if instance.synthetic else ""
    made_up += ", gold sufficient, not complete" if instance.is_sufficient else ""
    print(one_line(f"{instance.id}  ({dataset}, paper {instance.paper_id}{made_up})"))
    print_wrapped(f"Hypothesis: {instance.hypothesis}", "", columns)
    print(
        f"{quantity(evidence.n_sentences, 'sentence')}, {quantity(len(evidence.aspects), 'study aspect')}"
        f" ({quantity(n_results, 'result aspect')}), optimal K {evidence.optimal}{results}"
    )
    print("\nStudy aspects, and the sentences that cover them")
    for aspect in evidence.aspects:
        where = ", ".join(map(str, aspect.sentence_indices)) or "none"
        kind = "result" if aspect.is_result else ""
        text = f"  {aspect.text}" if aspect.text else ""
        print_wrapped(f"{where}{text}", f"  {aspect.label:<4}{kind:<6}  ", columns)


def _print_paper(instance: Instance, columns: int) -> None:
    print("\nThe paper (█ covers the aspects named behind it)")
    labels = _labels(instance)
    section = None
    for index, sentence in enumerate(instance.sentences):
        if instance.sections[index] != section:
            section = instance.sections[index]
            print()
            if instance.sentence_types[index] != "section_name":
                print(f"        [{_title(section)}]")
        mark = "█" if labels[index] else " "
        behind = f"  [{' '.join(labels[index])}]" if labels[index] else ""
        text = sentence if sentence.strip() else "(blank)"
        print_wrapped(f"{text}{behind}", f"{mark} {index:>4}  ", columns, below=f"{mark}       ")


def _title(section: str) -> str:
    if section == "":
        return "before the first heading"
    return one_line(section).strip() or "under a blank heading"


def _labels(instance: Instance) -> list[list[str]]:
    labels: list[list[str]] = [[] for _ in instance.sentences]
    for aspect in instance.evidence.aspects:
        for index in aspect.sentence_indices:
            labels[index].append(aspect.label)
    return labels


def _list_retrievers(args: argparse.Namespace) -> int:
    """List the retrievers with their settings."""
    from evidencebench_core.retrievers import retriever_entries

    entries = retriever_entries().values()
    if args.json:
        print_json([_retriever_document(entry) for entry in entries])
        return 0
    columns = text_columns()
    for entry in entries:
        print(f"{one_line(entry.name)}{' (sees gold)' if entry.sees_gold else ''}")
        print_wrapped(entry.summary, "    ", columns)
        for name, spec in entry.settings.items():
            choices = "|".join(spec.choices) if spec.choices else spec.allowed()
            setting = f"--set {name}={setting_text(spec.default)}"
            print_wrapped(f"({choices}) {spec.help}", f"    {setting:<24}  ", columns)
        print()
    print("evidencebench run --dataset NAME --retriever NAME --set setting=value")
    return 0


def _retriever_document(entry: RetrieverEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "summary": entry.summary,
        "sees_gold": entry.sees_gold,
        "problem": entry.problem,
        "settings": {
            name: {
                "default": spec.default,
                "kind": spec.kind.__name__,
                "help": spec.help,
                "choices": spec.choices,
                "minimum": spec.minimum,
                "maximum": spec.maximum,
            }
            for name, spec in entry.settings.items()
        },
    }


def setting_text(setting: Setting) -> str:
    return ",".join(map(str, setting)) if isinstance(setting, tuple) else str(setting)


VERBS: Final = {"show": (_add_arguments, _run), "retrievers": (add_json, _list_retrievers)}
