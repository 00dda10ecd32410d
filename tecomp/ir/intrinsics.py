"""The intrinsics that a ``Call`` may name: one table, used by te, interp and backends.

All are pure.  Float functions take and give one float type, lane by lane, and treat
NaN and infinities as IEEE 754 and NumPy do.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Intrinsic:
    """``arity`` arguments; ``accepts`` is *float*, *number* or *any*."""

    name: str
    arity: int
    accepts: str
    meaning: str


_ALL = (
    Intrinsic("exp", 1, "float", "e to the x"),
    Intrinsic("log", 1, "float", "natural logarithm"),
    Intrinsic("tanh", 1, "float", "hyperbolic tangent"),
    Intrinsic("erf", 1, "float", "error function"),
    Intrinsic("sigmoid", 1, "float", "1 / (1 + exp(-x))"),
    Intrinsic("sqrt", 1, "float", "square root, correctly rounded"),
    Intrinsic("rsqrt", 1, "float", "1 / sqrt(x)"),
    Intrinsic("sin", 1, "float", "sine of radians"),
    Intrinsic("cos", 1, "float", "cosine of radians"),
    Intrinsic("floor", 1, "float", "largest integer not above x"),
    Intrinsic("ceil", 1, "float", "smallest integer not below x"),
    Intrinsic("round", 1, "float", "nearest integer, ties to even"),
    Intrinsic("trunc", 1, "float", "towards zero"),
    Intrinsic("neg", 1, "float", "sign flipped, of zero and NaN too"),
    Intrinsic("abs", 1, "number", "magnitude; wraps at the smallest integer"),
    Intrinsic("power", 2, "float", "a to the b"),
    Intrinsic("fma", 3, "float", "a·b + c, rounded once"),
    Intrinsic("isnan", 1, "float", "a bool: is NaN"),
    Intrinsic("bitcast", 1, "any", "the same bits as the type of the call"),
)
INTRINSICS = {i.name: i for i in _ALL}
