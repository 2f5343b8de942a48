"""A small network over columns, which learns whole lists: which sentences cover the aspects.

Everything that enters a product of matrices is a multiple of a power of two, and small enough that the product is
exact in float64 in whatever order it is summed; all else is elementwise. So the same rows give the same network on
any processor and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.ranker.features import on_grid

N_UNITS: Final = 64  # of one network
N_NETWORKS: Final = 6  # of other seeds, averaged: side by side they are one
_BATCH: Final = 8  # papers
_RATE: Final = 3e-3  # the highest, after _WARM of the steps
_WARM: Final = 0.15
_DECAY: Final = 1.0
_ON_LISTS: Final = 0.5  # how much the second term of the loss counts
_INPUT_GRID, _WEIGHT_GRID, _ERROR_GRID, _SHARE_GRID = 2.0**-8, 2.0**-16, 2.0**-24, 2.0**-40
_LARGEST_INPUT: Final = 4.0  # standard deviations
_LARGEST_WEIGHT: Final = 8.0
_LN2: Final = 0.6931471805599453

_Array = NDArray[np.float64]
Covering = Sequence[Sequence[NDArray[np.int64]]]
"""For each output, the rows of a paper that cover each aspect; none where the paper has no aspect of that kind."""


@dataclass(frozen=True, slots=True)
class Network:
    """One layer of rectified units beside a linear model, over standardised columns; some outputs."""

    means: _Array  # (columns,)
    scales: _Array  # (columns,)
    hidden: _Array  # (columns, units)
    bias: _Array  # (units,)
    out: _Array  # (units, outputs)
    linear: _Array  # (columns, outputs)

    def scores(self, rows: NDArray[np.float32], output: int) -> _Array:
        """One number a row."""
        inputs = _standard(rows, self.means, self.scales)
        units = np.maximum(inputs @ self.hidden + self.bias, 0)
        return np.asarray(inputs @ self.linear[:, output] + units @ self.out[:, output])

    def contributions(self, rows: NDArray[np.float32], output: int) -> _Array:
        """What each column adds to a row's score, against a row of means: (rows, columns).

        Integrated gradients (Sundararajan et al., ICML 2017) along the straight line from the means, which for one
        layer of rectified units have a closed form: the share of the line on which a unit is on.
        """
        inputs = _standard(rows, self.means, self.scales)
        moves = inputs @ self.hidden
        rises = np.maximum(moves + self.bias, 0) - np.maximum(self.bias, 0)
        on = np.divide(rises, moves, out=np.zeros_like(moves), where=moves != 0)
        return np.asarray(inputs * (self.linear[:, output] + (on * self.out[:, output]) @ self.hidden.T))


def fit_network(
    columns: Sequence[NDArray[np.float32]],
    weights: Sequence[_Array],
    covering: Sequence[Covering],
    n_own: int,
    seed: int,
    n_epochs: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Network:
    """Fit `N_NETWORKS` networks, and put them side by side; every other one sees the first ``n_own`` columns alone.

    ``columns`` are the rows of each paper, ``weights`` how many sentences each row stands for. The loss of an
    output, averaged over papers, is half the mean over aspects of -log of the probability that a sentence drawn
    from the softmax of the scores covers the aspect, and half -log of the share of the aspects that it is expected
    to cover. AdamW (Loshchilov & Hutter, ICLR 2019), dropout of half of the inputs and of the units.
    """
    means, scales = _moments(columns, weights)
    papers = [
        _Paper(_standard(rows, means, scales), counts, covers)
        for rows, counts, covers in zip(columns, weights, covering, strict=True)
    ]
    fits = []
    for number in range(N_NETWORKS):
        if stopped():
            raise InterruptedError
        seen = papers if number % 2 else [replace(one, rows=one.rows[:, :n_own]) for one in papers]
        fits.append(_fit(seen, n_epochs, np.random.default_rng([seed, number])))
    n_columns = len(means)
    hidden, bias, out, linear = (list(parts) for parts in zip(*fits, strict=True))
    return Network(
        means,
        scales,
        np.concatenate([_tall(one, n_columns) for one in hidden], axis=1),
        np.concatenate(bias),
        np.concatenate(out) / N_NETWORKS,
        on_grid(np.sum([_tall(one, n_columns) for one in linear], axis=0) / N_NETWORKS, _WEIGHT_GRID),
    )


def _tall(weights: _Array, n_columns: int) -> _Array:
    """With zeros for the columns that were not seen."""
    return np.pad(weights, ((0, n_columns - len(weights)), (0, 0)))


def _moments(columns: Sequence[NDArray[np.float32]], weights: Sequence[_Array]) -> tuple[_Array, _Array]:
    """Means and standard deviations of the columns, in float32; row by row, so in one order everywhere."""
    whole = sum(float(counts.sum()) for counts in weights)
    sums, squares = np.zeros((2, columns[0].shape[1]))
    for rows, counts in zip(columns, weights, strict=True):
        sums += (rows.astype(np.float64) * counts[:, None]).sum(axis=0)
    means = (sums / whole).astype(np.float32).astype(np.float64)
    for rows, counts in zip(columns, weights, strict=True):
        squares += ((rows - means) ** 2 * counts[:, None]).sum(axis=0)
    scales = np.sqrt(squares / whole).astype(np.float32).astype(np.float64)
    return means, np.where(scales < 1e-6, 1e6, scales)


def _standard(rows: NDArray[np.float32], means: _Array, scales: _Array) -> _Array:
    inputs = (rows - means) / scales
    return on_grid(np.clip(inputs, -_LARGEST_INPUT, _LARGEST_INPUT), _INPUT_GRID)


def _units(values: _Array) -> _Array:
    return on_grid(np.maximum(values, 0), _WEIGHT_GRID)


def _exp(values: _Array) -> _Array:
    """e to the power of numbers up to 0, of nothing but sums and products: numpy's own depends on the processor."""
    halvings = np.rint(values / _LN2)
    rest, power = values - halvings * _LN2, np.ones_like(values)
    for n in range(12, 0, -1):
        power = power * rest / n + 1
    return np.asarray(np.ldexp(power, np.maximum(halvings, -1000).astype(np.int32)))


@dataclass(frozen=True, slots=True)
class _Paper:
    rows: _Array
    weights: _Array
    covering: Covering


class _Batch:
    """The rows of some papers, and which of them cover which aspects."""

    def __init__(self, papers: Sequence[_Paper]) -> None:
        self.rows, self.n_papers = np.concatenate([one.rows for one in papers]), len(papers)
        self.weights = np.concatenate([one.weights for one in papers])
        sizes = np.array([len(one.rows) for one in papers])
        self.paper = np.repeat(np.arange(len(papers)), sizes)
        self.starts = np.cumsum(sizes) - sizes
        self.covering = [
            (paper, output, [start + rows for rows in covers])
            for paper, (start, one) in enumerate(zip(self.starts, papers, strict=True))
            for output, covers in enumerate(one.covering)
            if covers
        ]

    def errors(self, scores: _Array) -> _Array:
        """The gradient of the loss by the scores, of the same shape: (rows, outputs)."""
        found = np.zeros_like(scores)
        highest = np.maximum.reduceat(scores, self.starts)[self.paper]
        powers = on_grid(_exp(scores - highest), _SHARE_GRID) * self.weights[:, None]
        share = on_grid(powers / np.add.reduceat(powers, self.starts)[self.paper], _SHARE_GRID)
        for paper, output, covers in self.covering:
            own = share[:, output]
            wanted, expected = np.zeros((2, len(own)))
            for rows in covers:
                wanted[rows] += own[rows] / (own[rows].sum() + _SHARE_GRID) / len(covers)
                expected[rows] += own[rows] / len(covers)
            wanted = (1 - _ON_LISTS) * wanted + _ON_LISTS * expected / (expected.sum() + _SHARE_GRID)
            found[:, output] += np.where(self.paper == paper, own, 0.0) - wanted
        return on_grid(found / self.n_papers, _ERROR_GRID)


def _fit(papers: Sequence[_Paper], n_epochs: int, rng: np.random.Generator) -> list[_Array]:
    """Hidden weights, bias, output weights and linear weights of one network."""
    n_columns, n_outputs = papers[0].rows.shape[1], len(papers[0].covering)
    shapes = ((n_columns, N_UNITS), (N_UNITS,), (N_UNITS, n_outputs), (n_columns, n_outputs))
    sizes = (1 / np.sqrt(n_columns), 1 / np.sqrt(n_columns), 1 / np.sqrt(N_UNITS), 0.0)
    exact = [rng.uniform(-size, size, shape) for size, shape in zip(sizes, shapes, strict=True)]
    moments, squares = [np.zeros_like(one) for one in exact], [np.zeros_like(one) for one in exact]
    n_batches = -(-len(papers) // _BATCH)
    n_steps, step, first, second = n_epochs * n_batches, 0, 1.0, 1.0
    for _ in range(n_epochs):
        for drawn in np.array_split(rng.permutation(len(papers)), n_batches):
            batch = _Batch([papers[place] for place in drawn])
            slopes = _slopes(batch, [_on_weight_grid(one) for one in exact], rng)
            step, first, second = step + 1, first * 0.9, second * 0.999
            rate = _RATE * min(step / (_WARM * n_steps), (n_steps - step + 1) / ((1 - _WARM) * n_steps))
            for place, slope in enumerate(slopes):
                moments[place] = 0.9 * moments[place] + 0.1 * slope
                squares[place] = 0.999 * squares[place] + 0.001 * (slope * slope)
                move = moments[place] / (1 - first) / (np.sqrt(squares[place] / (1 - second)) + 1e-8)
                if exact[place].ndim > 1:
                    move = move + _DECAY * exact[place]
                exact[place] = exact[place] - rate * move
    return [_on_weight_grid(one) for one in exact]


def _on_weight_grid(values: _Array) -> _Array:
    return on_grid(np.clip(values, -_LARGEST_WEIGHT, _LARGEST_WEIGHT), _WEIGHT_GRID)


def _slopes(batch: _Batch, weights: Sequence[_Array], rng: np.random.Generator) -> tuple[_Array, ...]:
    """The gradient of the loss by each of the weights."""
    hidden, bias, out, linear = weights
    rows = batch.rows * _dropout(batch.rows.shape, rng)
    moves = rows @ hidden + bias
    dropout = _dropout(moves.shape, rng)
    units = _units(moves) * dropout
    errors = batch.errors(rows @ linear + units @ out)
    back = on_grid((errors @ out.T) * dropout * (moves > 0), _ERROR_GRID)
    return rows.T @ back, back.sum(axis=0), units.T @ errors, rows.T @ errors


def _dropout(shape: tuple[int, ...], rng: np.random.Generator) -> _Array:
    """2 or 0, evenly: half of the numbers count twice."""
    return rng.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2
