"""Whether train-ranker writes the same file whatever the threads, the instructions and the Python.

    python -m benchmarks.same_model [TRAIN_SET] [OTHER_PYTHON...]

Trains and cross-validates from nothing cached: with one thread, with two, without AVX-512, with OpenBLAS's kernels for
AVX-512 and for processors that have no AVX at all, and with each other Python that has the dependencies. Prints the
digest of each model file and its four figures; what differs from the first is missed. numpy and OpenBLAS have settings
that hide AVX-512; ONNX Runtime has none, so a copy of it is told that the system does not keep the wide registers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.timing import ROOT, TRAIN, report

# xor ecx, ecx; xgetbv -> xor ecx, ecx; mov al, 7: registers of x87, SSE and AVX are kept, and no others
_ASKS, _TOLD = bytes.fromhex("31c90f01d0"), bytes.fromhex("31c9b00790")
_WITHOUT: Final = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}


def hide_avx512(folder: Path) -> None:
    """Put a copy of ONNX Runtime there that sees none."""
    spec = find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    copy = folder / "onnxruntime"
    shutil.copytree(Path(spec.origin).parent, copy)
    (library,) = (copy / "capi").glob("onnxruntime_pybind11_state*.so")
    content = library.read_bytes()
    if _ASKS not in content:
        raise SystemExit(
            "This build of ONNX Runtime asks for AVX-512 in another way: look at MLAS's platform.cpp."
        )
    library.write_bytes(content.replace(_ASKS, _TOLD))


def trained(folder: Path, train_set: Path, python: str, settings: dict[str, str]) -> dict[str, Any]:
    """Digest and figures of a model that is trained with an empty store and cache."""
    folder.mkdir()
    places = {"STORE": "store.sqlite", "CACHE": "cache", "RANKER": "ranker.json"}
    given = {f"EVIDENCEBENCH_{name}": str(folder / place) for name, place in places.items()}
    paths = os.pathsep.join(filter(None, (settings.get("PYTHONPATH"), str(ROOT))))
    environment = {**os.environ, **given, **settings, "PYTHONPATH": paths}

    def told(*arguments: str) -> str:
        command = [python, "-m", "evidencebench_core.cli", *arguments]
        return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    told("ingest", str(train_set), "--name", "train")
    found = json.loads(told("train-ranker", "--dataset", "train", "--json"))
    recalls = [one for one in found["cross_validated"] if one["retriever"] == "evidence-ranker"]
    figures = {one["task"]: round(100 * one["aspect_recall"], 1) for one in recalls}
    return {"weights": found["weights"], **figures, "seconds": found["seconds"]["all"]}


def main() -> int:
    train_set = Path(sys.argv[1]) if sys.argv[1:] else TRAIN
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hide_avx512(folder / "without")
        ways: list[tuple[str, str, dict[str, str]]] = [
            (f"{n} threads", sys.executable, {"OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n}) for n in "12"
        ]
        hidden = {**_WITHOUT, "PYTHONPATH": str(folder / "without")}
        ways.append(("without AVX-512", sys.executable, hidden))
        ways += [
            (f"OpenBLAS for {kind}", sys.executable, {"OPENBLAS_CORETYPE": kind})
            for kind in ("SkylakeX", "Prescott")
        ]
        ways += [(python, python, {}) for python in sys.argv[2:]]
        found: dict[str, Any] = {}
        for number, (way, python, settings) in enumerate(ways):
            found[way] = trained(folder / str(number), train_set, python, settings)
            print(way, found[way], file=sys.stderr, flush=True)
        digests = {way: one["weights"] for way, one in found.items()}
        return report(found, [way for way, one in digests.items() if one != digests["1 threads"]])


if __name__ == "__main__":
    raise SystemExit(main())
