"""``evidencebench retrievers``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json
from evidencebench_core.cli.output import plain, print_json, print_wrapped, text_columns

if TYPE_CHECKING:
    from evidencebench_core.retrievers import RetrieverEntry, Setting


def _run(args: argparse.Namespace) -> int:
    """List the retrievers with their settings."""
    from evidencebench_core.retrievers import retriever_entries

    entries = retriever_entries().values()
    if args.json:
        print_json([_document(entry) for entry in entries])
        return 0
    columns = text_columns()
    for entry in entries:
        print(f"{plain(entry.name)}{' (sees gold)' if entry.sees_gold else ''}")
        print_wrapped(entry.summary, "    ", columns)
        for name, spec in entry.settings.items():
            choices = "|".join(spec.choices) if spec.choices else spec.allowed()
            setting = f"--set {name}={_text(spec.default)}"
            print_wrapped(f"({choices}) {spec.help}", f"    {setting:<24}  ", columns)
        print()
    print("evidencebench run --dataset NAME --retriever NAME --set setting=value")
    return 0


def _document(entry: RetrieverEntry) -> dict[str, Any]:
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


def _text(setting: Setting) -> str:
    return ",".join(map(str, setting)) if isinstance(setting, tuple) else str(setting)


VERBS: Final = {"retrievers": (add_json, _run)}
