"""Two Gaussians on a line: which of them a value comes from (bioace spec rules 14 to 16)."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import finite_values

_FEWEST_VALUES, _FEWEST_GROUPS = 50, 10
_PARAMETERS = ("means", "precisions", "degrees", "mean_precisions", "before", "behind")


@dataclass(frozen=True, slots=True)
class Mixture:
    """A Bayesian mixture of two components in one dimension, as plain numbers; each field has one a component.

    Attributes
    ----------
    means, precisions : tuple of float
        ``precisions`` as their Cholesky factor: 1 / standard deviation.
    degrees, mean_precisions : tuple of float
        Degrees of freedom of the Wishart prior, precision of the mean.
    before, behind : tuple of float
        The stick weights A and B of the Dirichlet process.
    n, n_groups, sha256 : int, int, str
        How many values of how many questions it was fitted on, and the digest of these values.
    warnings : tuple of str
        What is wrong with the fit; stays with it.
    """

    means: tuple[float, float]
    precisions: tuple[float, float]
    degrees: tuple[float, float]
    mean_precisions: tuple[float, float]
    before: tuple[float, float]
    behind: tuple[float, float]
    n: int = 0
    n_groups: int = 0
    sha256: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def match(self) -> int:
        """The component of the larger mean."""
        return int(self.means[1] > self.means[0])

    @property
    def turn(self) -> float | None:
        """Where the log odds of the match turn; ``None`` where the components are equally wide."""
        match, other = self.match, 1 - self.match
        wide = np.asarray(self.precisions) ** 2
        if wide[match] == wide[other]:
            return None
        rise = self.means[match] * wide[match] - self.means[other] * wide[other]
        return float(rise / (wide[match] - wide[other]))

    def posterior(self, values: ArrayLike, guard: bool = True) -> NDArray[np.float64]:
        """The probability of the match component for each value, in their shape.

        Without ``guard`` it is scikit-learn's ``predict_proba``. That is not monotone: beyond the `turn` a larger
        value may count less. With it p stays there what it is at the turn.
        """
        from scipy.special import digamma, expit

        where = np.asarray(values, dtype=np.float64)
        if guard and (turn := self.turn) is not None:
            narrow = self.precisions[self.match] > self.precisions[1 - self.match]
            where = np.minimum(where, turn) if narrow else np.maximum(where, turn)
        before, behind = np.asarray(self.before), np.asarray(self.behind)
        both = digamma(before + behind)
        weights = digamma(before) - both + np.array([0.0, digamma(behind[0]) - both[0]])
        logs = []
        for k in (0, 1):
            scale, degrees = self.precisions[k], self.degrees[k]
            normal = np.log(scale) - 0.5 * (scale * (where - self.means[k])) ** 2 - 0.5 * np.log(degrees)
            spread = np.log(2.0) + digamma(degrees / 2) - 1.0 / self.mean_precisions[k]
            logs.append(normal + 0.5 * spread + weights[k])
        return np.asarray(expit(logs[self.match] - logs[1 - self.match]))

    def as_dict(self) -> dict[str, Any]:
        """JSON-able; `mixture_from` reads it."""
        return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(self).items()}


def mixture_from(numbers: Mapping[str, Any]) -> Mixture:
    """The mixture of `Mixture.as_dict`; `SettingError` if it is none."""
    try:
        pairs: dict[str, Any] = {
            name: tuple(finite_values(numbers[name], name).tolist()) for name in _PARAMETERS
        }
        positive = all(one > 0 for name in _PARAMETERS[1:] for one in pairs[name])
        if not positive or any(len(pair) != 2 for pair in pairs.values()):
            raise ValueError("a parameter that is not positive, or not one for each of two components")
        rest = {name: numbers[name] for name in ("n", "n_groups", "sha256") if name in numbers}
        return Mixture(**pairs, **rest, warnings=tuple(map(str, numbers.get("warnings", ()))))
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError("mixture", f"cannot be read ({error})", "Fit it again.") from error


def fitted_mixture(values: ArrayLike, groups: ArrayLike) -> Mixture:
    """The mixture of two components that fits the values.

    Parameters
    ----------
    values, groups : arrays of shape (n,)
        Cosines, and the question of each. At least 50 of at least 10 questions, with two distinct values.

    Raises
    ------
    SettingError
        If there are fewer.
    """
    array, of = finite_values(values), np.asarray(groups)
    n_groups = len(np.unique(of))
    if array.size < _FEWEST_VALUES or n_groups < _FEWEST_GROUPS or np.ptp(array) == 0:
        problem = (
            f"has {array.size} cosines of {n_groups} questions, {len(np.unique(array))} of them distinct"
        )
        needs = f"It needs {_FEWEST_VALUES} of {_FEWEST_GROUPS}, two distinct; or match with matcher=cosine."
        raise SettingError("mixture", problem, needs)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=2,
        covariance_type="full",
        weight_concentration_prior_type="dirichlet_process",
        max_iter=1000,
        n_init=5,
        random_state=42,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below
        model.fit(array[:, None])
    before, behind = model.weight_concentration_
    found = (
        model.means_, model.precisions_cholesky_, model.degrees_of_freedom_, model.mean_precision_, before, behind,
    )  # fmt: skip
    pairs: dict[str, Any] = {
        name: tuple(np.asarray(one, dtype=np.float64).ravel().tolist())
        for name, one in zip(_PARAMETERS, found, strict=True)
    }
    pooled = float(np.sqrt(model.weights_ @ (1.0 / model.precisions_cholesky_.ravel() ** 2)))
    problems = {
        "the fit did not converge": not model.converged_,
        "the two components are nearer than one standard deviation": abs(np.diff(pairs["means"])[0]) < pooled,
        "a component holds less than 1% of the cosines": model.weights_.min() < 0.01,
    }
    digest = hashlib.sha256(np.sort(array).tobytes()).hexdigest()
    said = tuple(problem for problem, is_there in problems.items() if is_there)
    return Mixture(**pairs, n=array.size, n_groups=n_groups, sha256=digest, warnings=said)
