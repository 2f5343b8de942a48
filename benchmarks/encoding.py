"""Sentences a second of the packaged embedding model: alone, and beside other processes that do the same.

    python -m benchmarks.encoding [--beside 1] [--spin]

``--spin`` lets torch's threads spin while they wait, as they do by default; without it they sleep, as this program
asks them to. Prints seconds and CPU seconds of every process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=int, default=1, help="other processes")
    parser.add_argument("--spin", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return encode_sentences()
    environment = dict(os.environ)
    if options.spin:
        environment |= {"OMP_WAIT_POLICY": "ACTIVE", "GOMP_SPINCOUNT": "1000000000"}
    command = [sys.executable, "-m", "benchmarks.encoding", "--worker"]
    for n_processes in (1, 1 + options.beside):
        print(f"{n_processes} at once", flush=True)
        processes = [subprocess.Popen(command, env=environment) for _ in range(n_processes)]
        for process in processes:
            process.wait()
    return 0


def encode_sentences() -> int:
    from evidencebench_core.retrievers.encoding import encode, load_encoder

    load_encoder("minilm")
    texts = [f"Group {n} had a lower risk of events after {n} weeks of treatment." for n in range(256)]
    encode("minilm", texts[:8])
    seconds, cpu = time.perf_counter(), time.process_time()
    encode("minilm", texts)
    seconds, cpu = time.perf_counter() - seconds, time.process_time() - cpu
    print(f"  {seconds:.2f} s, {cpu:.2f} s CPU: {256 / seconds:.0f} sentences/s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
