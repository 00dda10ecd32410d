"""Buffers: named, typed, shaped memory."""

from __future__ import annotations

from tecomp.dtypes import DType
from tecomp.ir.expr import Const, Expr, Load, Var, const

SCOPES = ("global", "shared", "local", "register")


class Buffer:
    """Memory of ``shape`` elements of ``dtype``, dense and row-major.

    Nominal, like ``Var``.  ``name`` is canonical: ``p0`` for the first parameter,
    ``b2`` for what block ``b2`` writes, ``b2.1`` for the second value of a tuple.
    ``label`` is what the user called it; it is only shown.

    ``scope``: *global* (parameters, the call's workspace), *shared* (a work-group's
    local memory), *local* (private, stack), *register* (all indices are constant
    after unrolling; kept in SSA values).  ``is_constant``: its contents never change
    between calls.
    """

    __slots__ = (
        "__weakref__", "dtype", "is_constant", "label", "name", "scope", "shape",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: tuple[Expr, ...],
        *,
        label: str | None = None,
        scope: str = "global",
        is_constant: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.label = name if label is None else label
        self.scope = scope
        self.is_constant = is_constant

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def with_(
        self,
        *,
        name: str | None = None,
        shape: tuple[Expr, ...] | None = None,
        scope: str | None = None,
        dtype: DType | None = None,
        label: str | None = None,
    ) -> Buffer:
        """A new buffer like this one, but for what is given."""
        return Buffer(
            self.name if name is None else name,
            self.dtype if dtype is None else dtype,
            self.shape if shape is None else shape,
            label=self.label if label is None else label,
            scope=self.scope if scope is None else scope,
            is_constant=self.is_constant,
        )

    def load(self, *indices: Expr | int) -> Load:
        """The ``Load`` of one element."""
        return Load(self, tuple(const(i) for i in indices))

    def __repr__(self) -> str:
        dims = ", ".join(str(_plain(d)) for d in self.shape)
        return f"{self.label}: {self.dtype}[{dims}]"


def _plain(dim: Expr) -> object:
    if isinstance(dim, Const):
        return dim.value
    return dim.name if isinstance(dim, Var) else dim
