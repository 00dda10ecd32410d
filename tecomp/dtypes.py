"""Data types: one interned ``DType`` for each scalar or vector type.

A ``DType`` is a ``str`` (``"float32"``, ``"float32x8"``), so it compares with, hashes
as and serialises as its name, and carries its properties as attributes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tecomp.errors import TEError

if TYPE_CHECKING:
    import numpy as np

_SCALARS: dict[str, tuple[str, int]] = {
    "bool": ("bool", 8),
    "int8": ("int", 8),
    "int16": ("int", 16),
    "int32": ("int", 32),
    "int64": ("int", 64),
    "uint8": ("uint", 8),
    "uint16": ("uint", 16),
    "uint32": ("uint", 32),
    "uint64": ("uint", 64),
    "float16": ("float", 16),
    "bfloat16": ("bfloat", 16),
    "float32": ("float", 32),
    "float64": ("float", 64),
}
_VECTOR = re.compile(r"([a-z0-9]+?)x([1-9][0-9]{0,3})")
_INTERNED: dict[str, DType] = {}


class DType(str):
    """A scalar type, or a vector of ``lanes`` of them; build it with ``dtype(name)``."""

    kind: str  # "bool", "int", "uint", "float" or "bfloat"
    bits: int  # of one lane, as stored
    lanes: int
    scalar: DType
    is_float: bool  # float or bfloat
    is_int: bool  # int or uint
    is_bool: bool
    is_signed: bool
    size_bytes: int  # of the whole value, as stored

    def with_lanes(self, lanes: int) -> DType:
        return dtype(str(self.scalar) if lanes == 1 else f"{self.scalar!s}x{lanes}")

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype that stores one lane (bfloat16 is stored as uint16)."""
        import numpy as np

        return np.dtype("uint16" if self.kind == "bfloat" else str(self.scalar))

    @property
    def int_range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer or bool type."""
        if self.kind == "bool":
            return 0, 1
        if self.kind == "uint":
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (str(self),)

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"dtype({str.__repr__(self)})"


def dtype(name: str | DType | Any) -> DType:
    """The interned type called ``name``; a NumPy dtype or scalar type also serves.

    Raises ``TEError`` for a name that is no data type.
    """
    if type(name) is DType:
        return name
    known = _INTERNED.get(name) if isinstance(name, str) else None
    return known if known is not None else _make(name)


def _make(name: Any) -> DType:
    if not isinstance(name, str):
        import numpy as np

        try:
            return dtype(np.dtype(name).name)
        except TypeError:
            raise TEError("{name!r} is not a data type", name=name) from None
    match = _VECTOR.fullmatch(name)
    base, lanes = (match[1], int(match[2])) if match else (name, 1)
    if base not in _SCALARS:
        raise TEError(
            "{name!r} is not a data type; known are {known}",
            name=name,
            known=", ".join(_SCALARS),
        )
    if match and lanes == 1:
        return dtype(base)
    made = DType(name)
    made.kind, made.bits = _SCALARS[base]
    made.lanes = lanes
    made.scalar = made if lanes == 1 else dtype(base)
    made.is_float = made.kind in ("float", "bfloat")
    made.is_int = made.kind in ("int", "uint")
    made.is_bool = made.kind == "bool"
    made.is_signed = made.kind == "int" or made.is_float
    made.size_bytes = made.bits // 8 * lanes
    return _INTERNED.setdefault(name, made)


BOOL = dtype("bool")
INT64 = dtype("int64")
FLOAT32 = dtype("float32")
