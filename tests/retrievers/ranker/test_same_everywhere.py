"""The same embeddings and the same model file, whatever the processor's instructions and the number of threads."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.same_model import hide_avx512
from evidencebench_core.retrievers.encoding.minilm import minilm
from evidencebench_core.retrievers.ranker.features import unit_vectors
from evidencebench_core.retrievers.ranker.training import _rounded

ROOT = Path(__file__).parents[3]
TEXTS = [f"Drinking {n} cups of tea {'a day ' * n}lowers blood pressure (p = 0.0{n})." for n in range(40)]
EMBEDDING = f"""
import hashlib
from evidencebench_core.retrievers.encoding.minilm import minilm
print(hashlib.sha256(minilm(int8=False).encode({TEXTS!r}).tobytes()).hexdigest())
"""
FITTING = """
import sys
from pathlib import Path
from evidencebench_core.retrievers.ranker.examples import example_of
from evidencebench_core.retrievers.ranker.model_file import write_model
from evidencebench_core.retrievers.ranker.training import fit_ranker
from tests.retrievers.ranker.made_up import ENCODER, QUICK, made, vectors_of
examples = [example_of(one, vectors_of(one)) for one in map(made, range(12))]
print(write_model(fit_ranker(examples, ENCODER, QUICK), Path(sys.argv[1])))
"""


def printed(code: str, *arguments: str, **settings: str) -> str:
    paths = os.pathsep.join(filter(None, (settings.get("PYTHONPATH"), str(ROOT))))
    environment = {**os.environ, **settings, "PYTHONPATH": paths}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_an_embedding_does_not_depend_on_what_it_is_encoded_with() -> None:
    together = minilm(int8=False).encode(TEXTS)
    for place in (0, 7, 39):
        assert (minilm(int8=False).encode([TEXTS[place]])[0] == together[place]).all()


@pytest.mark.skipif(
    "avx512f" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"), reason="no AVX-512 to hide"
)
def test_embeddings_are_the_same_with_and_without_avx512(tmp_path: Path) -> None:
    hide_avx512(tmp_path)
    with_it = printed(EMBEDDING, OMP_NUM_THREADS="2")
    assert printed(EMBEDDING, OMP_NUM_THREADS="1", PYTHONPATH=str(tmp_path)) == with_it


def test_the_model_file_is_the_same_whatever_the_linear_algebra_runs_on(tmp_path: Path) -> None:
    ways = (
        {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"},
        {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2", "NPY_DISABLE_CPU_FEATURES": "X86_V4"},
    )
    digests = {printed(FITTING, str(tmp_path / str(number)), **way) for number, way in enumerate(ways)}
    assert len(digests) == 1


def test_products_of_unit_vectors_have_no_order() -> None:
    rng = np.random.default_rng(0)
    unit = unit_vectors(rng.normal(size=(60, 384)).astype(np.float32)).astype(np.float64)
    turned = unit[:, rng.permutation(384)]
    products: NDArray[np.float64] = unit @ unit.T
    assert (products == turned @ turned.T).all()
    assert np.abs(products.diagonal() - 1).max() < 1e-4


@pytest.mark.parametrize("largest", [1e-9, 0.37, 4.0, 12345.0])
def test_rounding_leaves_no_noise_and_moves_little(largest: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-largest, largest, 1000)
    noisy = values + rng.normal(size=1000) * largest * 1e-13
    assert (_rounded(values) == _rounded(noisy)).all()
    assert np.abs(_rounded(values) - values).max() <= largest * 2**-16
    assert not _rounded(np.zeros(3)).any()
