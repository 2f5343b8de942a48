"""Affine maps as PDF writes them: (a, b, c, d, e, f), row vectors on the left."""

from __future__ import annotations

from typing import Final

__all__ = ["IDENTITY", "Matrix", "product", "shifted"]

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def product(a: Matrix, b: Matrix) -> Matrix:
    """First `a`, then `b`."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    )


def shifted(matrix: Matrix, x: float, y: float) -> Matrix:
    """First a shift by (x, y), then `matrix`."""
    a, b, c, d, e, f = matrix
    return (a, b, c, d, e + x * a + y * c, f + x * b + y * d)
