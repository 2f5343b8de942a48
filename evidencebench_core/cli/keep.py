"""``evidencebench delete`` and ``rename``: datasets, instances marked by hand, runs and kept papers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import store_of
from evidencebench_core.cli.output import note
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.papers.own import OwnPaper

_Removal = tuple[str, dict[str, int], Callable[[], object]]  # what, what depends on it, the deletion


def _add_delete(parser: argparse.ArgumentParser) -> None:
    _add_kind_and_name(parser)
    parser.add_argument("--yes", action="store_true", help="delete it; without this, only say what would go")


def _add_kind_and_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=_REMOVALS, help="what it is")
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a dataset's name, a run's id, a kept paper's name or number, the id of an instance marked by hand",
    )
    parser.add_argument(
        "--dataset", metavar="NAME", help="of the instance, where several have one of that id"
    )


def _delete(args: argparse.Namespace) -> int:
    """Delete with all that depends on it, which is named; without ``--yes`` nothing is deleted."""
    return delete_named(*_REMOVALS[args.kind](store_of(args), args), args.yes)


def delete_named(what: str, dependents: dict[str, int], delete: Callable[[], object], is_meant: bool) -> int:
    """Delete what is named, with what depends on it, or only say so; the exit code."""
    from evidencebench_core.data.removal import in_words

    if not is_meant:
        print(one_line(f"{what} would be deleted, with {in_words(dependents)}."))
        note("Nothing was deleted: repeat it with --yes.")
        return 1
    delete()
    print(one_line(f"Deleted {what}, with {in_words(dependents)}."))
    return 0


def _dataset(store: Store, args: argparse.Namespace) -> _Removal:
    from evidencebench_core.data.removal import dataset_dependents, delete_dataset

    name = args.name
    return f"dataset {name}", dataset_dependents(store, name), lambda: delete_dataset(store, name)


def _instance(store: Store, args: argparse.Namespace) -> _Removal:
    from evidencebench_core.data.removal import delete_instance, instance_dependents

    name, one = _dataset_of(store, args), args.name
    what = f"instance {one} of dataset {name}"
    return what, instance_dependents(store, name, one), lambda: delete_instance(store, name, one)


def _dataset_of(store: Store, args: argparse.Namespace) -> str:
    """The dataset of an instance: the one named, else the only one made by hand that has it."""
    from evidencebench_core.data.store import MARKED_BY_HAND

    if args.dataset:
        return str(args.dataset)
    by_hand = [info.name for info in store.datasets() if info.source == MARKED_BY_HAND]
    fits = [name for name in by_hand if args.name in store.ids(name)]
    if len(fits) == 1:
        return fits[0]
    problem = f"is in {len(fits)} datasets" if fits else f"is none that was marked by hand in {store.path}"
    raise UnknownNameError(f"instance {shown(args.name)}", problem, "Name its dataset with --dataset.")


def _run(store: Store, args: argparse.Namespace) -> _Removal:
    from evidencebench_core.runs import ChatRunInfo, ChatRuns, RunStore
    from evidencebench_core.runs.chat_runs import any_run

    run = any_run(store, args.name)
    if isinstance(run, ChatRunInfo):
        asked = ChatRuns(store)
        about = run.settings.get("task") or run.settings.get("stage") or run.wing
        what = f"run {run.id} ({about}, {run.settings.get('model')})"
        return what, asked.dependents(run), lambda: asked.delete(run)
    runs = RunStore(store)
    what = f"run {run.id} ({run.label} on {run.dataset})"
    return what, runs.dependents(run), lambda: runs.delete(run)


def _paper(store: Store, args: argparse.Namespace) -> _Removal:
    from evidencebench_core.annotation.store import Annotations
    from evidencebench_core.papers.own import OwnPapers

    own = _own_paper(store, args.name)
    n_markings = len(Annotations(store).annotators(own.key))
    counts = {"sentence": own.n_sentences} | ({"marking": n_markings} if n_markings else {})
    return f"paper {own.id} ({own.name})", counts, lambda: OwnPapers(store).remove(own.id)


def _own_paper(store: Store, name: str) -> OwnPaper:
    from evidencebench_core.papers.own import OwnPapers

    fits = [own for own in OwnPapers(store).all() if name in (str(own.id), own.name)]
    if len(fits) == 1:
        return fits[0]
    problem = f"fits {len(fits)} kept papers" if fits else f"is not in {store.path}"
    raise UnknownNameError(f"paper {shown(name)}", problem, "Your paper lists them, by name and number.")


def _add_rename(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("dataset", "run", "paper"), help="what it is")
    parser.add_argument(
        "name", metavar="NAME", help="a dataset's name, a run's id, a kept paper's name or number"
    )
    parser.add_argument("new", metavar="NEW", help="the name it gets")


def _rename(args: argparse.Namespace) -> int:
    """Rename; what depends on it stays with it."""
    from evidencebench_core.data.removal import rename_dataset
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.runs import RunStore

    store = store_of(args)
    if args.kind == "dataset":
        renamed = rename_dataset(store, args.name, args.new).name
    elif args.kind == "run":
        runs = RunStore(store)
        renamed = runs.rename(runs.run(args.name), args.new).label
    else:
        renamed = OwnPapers(store).rename(_own_paper(store, args.name).id, args.new).name
    print(one_line(f"Renamed {args.name} to {renamed}."))
    return 0


_REMOVALS: Final = {"dataset": _dataset, "instance": _instance, "run": _run, "paper": _paper}
VERBS: Final = {"delete": (_add_delete, _delete), "rename": (_add_rename, _rename)}
