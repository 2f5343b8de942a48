"""A fine-tuned model on disk: the folder that ``--set model=FOLDER`` takes, with its card."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.finetune.fitting import FinetuneSettings
from evidencebench_core.retrievers.trained_on import TRAINED_ON, TrainedOn

_PACKAGES: Final = ("evidencebench-explorer", "sentence-transformers", "transformers", "torch")


def check_target(folder: Path) -> None:
    """Before hours of work: is the folder free?

    Raises
    ------
    SettingError
        If something exists already, or the folder above is not.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError("output", f"{folder} exists already", "Name a new folder.")
    if not folder.resolve().parent.is_dir():
        raise SettingError("output", f"{folder.resolve().parent} is not a folder", "Make it first.")


def save_model(
    transformer: Any,
    folder: Path,
    settings: FinetuneSettings,
    trained_on: TrainedOn,
    scores: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write the model folder: all of it or nothing.

    Beside the model it holds ``trained_on.json``, ``finetune.json`` (settings, versions, scores of
    held-out folds) and a ``README.md`` that says the same to people.

    Raises
    ------
    SettingError
        See `check_target`.
    """
    check_target(folder)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.resolve().parent))
    try:
        transformer.save(str(part), create_model_card=False)
        trained_on.write(part)
        record = {
            "settings": asdict(settings),
            "dataset_sha256": trained_on.dataset_sha256,
            "versions": {package: version(package) for package in _PACKAGES},
            "held_out": dict(scores),
        }
        (part / "finetune.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        (part / "README.md").write_text(_card(record, trained_on), encoding="utf-8")
        part.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _card(record: Mapping[str, Any], trained_on: TrainedOn) -> str:
    lines = [
        "# An encoder fine-tuned on EvidenceBench",
        "",
        f"Learnt from {len(trained_on.instance_ids):,} instances of {len(trained_on.paper_ids):,} papers "
        f"(dataset with sha256 {trained_on.dataset_sha256}; their ids: {TRAINED_ON}). Scores on those are no "
        "evidence of anything. The terms of the dataset hold for weights learnt from it.",
        "",
        "Settings: " + ", ".join(f"{key} {value}" for key, value in record["settings"].items()) + ".",
        "Versions: " + ", ".join(f"{key} {value}" for key, value in record["versions"].items()) + ".",
        "",
    ]
    if not record["held_out"]:
        lines.append("It was not evaluated on held-out papers.")
    else:
        lines += [
            "Aspect Recall (%) on held-out papers, by models trained in the same way on the rest:",
            "",
            "| task | n | before | after | difference (95% interval) | p |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_row(task, row) for task, row in record["held_out"].items()]
    return "\n".join(lines) + "\n"


def _row(task: str, row: Mapping[str, Any]) -> str:
    def percent(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.1f}"

    low, high = row["ci95"] or (None, None)
    p_value = "–" if row["p_value"] is None else f"{row['p_value']:.3f}"
    return (
        f"| {task} | {row['n']} | {percent(row['mean_b'])} | {percent(row['mean_a'])} | "
        f"{percent(row['mean_difference'])} ({percent(low)} to {percent(high)}) | {p_value} |"
    )
