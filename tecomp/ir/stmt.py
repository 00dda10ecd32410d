"""Statements: an immutable tree of a few kinds, compared by identity.

``For``, ``Block``, ``Store``, ``Seq``, ``If``, ``Let``, ``Allocate`` and ``Evaluate``.
Blocks exist up to level *scheduled*; ``Allocate`` appears while lowering.
Every kind declares its expressions (``exprs``) and child statements (``bodies``) and
rebuilds itself with ``rebuild``, so the visitors of ``ir.visitor`` serve all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tecomp.ir.buffer import Buffer
from tecomp.ir.expr import TRUE, Expr, Var

Annotations = Mapping[str, Any]
_NO_ANNOTATIONS: Annotations = {}

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread")


class Stmt:
    """Base of all statements."""

    __slots__ = ("__weakref__",)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The expressions that stand in this very statement."""
        return ()

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return ()

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Stmt:
        """The same statement with other expressions and child statements."""
        return self

    def __repr__(self) -> str:
        from tecomp.ir.printer import print_stmt

        return print_stmt(self)


class For(Stmt):
    """``for var in [0, extent)`` around ``body``.

    ``name`` is canonical and unique in the function; ``var.name`` is for display.
    ``kind``: *serial*, *parallel*, *vectorized*, *unrolled*, or *thread* with the axis
    in ``annotations["thread"]`` (``"blockIdx.x"``, …).
    """

    __slots__ = ("annotations", "body", "extent", "kind", "name", "var")

    def __init__(
        self,
        name: str,
        var: Var,
        extent: Expr,
        body: Stmt,
        kind: str = "serial",
        annotations: Annotations = _NO_ANNOTATIONS,
    ) -> None:
        self.name = name
        self.var = var
        self.extent = extent
        self.body = body
        self.kind = kind
        self.annotations = annotations

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.extent,)

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return (self.body,)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> For:
        return For(
            self.name, self.var, exprs[0], bodies[0], self.kind, self.annotations
        )

    def with_body(self, body: Stmt) -> For:
        if body is self.body:
            return self
        return For(self.name, self.var, self.extent, body, self.kind, self.annotations)


class IterVar:
    """One iteration variable of a block: ``var`` runs over ``[0, extent)``.

    ``kind``: *spatial* (independent instances), *reduction* (commutative updates of
    one element), *ordered* (must run in sequence: scan) or *opaque* (unknown).
    """

    __slots__ = ("extent", "kind", "var")

    def __init__(self, var: Var, extent: Expr, kind: str) -> None:
        self.var = var
        self.extent = extent
        self.kind = kind

    def __repr__(self) -> str:
        return f"{self.var.name}: {self.kind}[{self.extent}]"


class Block(Stmt):
    """One tensor's computation for one instance of its iteration variables.

    ``bindings[n]`` is the value of ``iters[n].var`` in terms of the loops around.  An
    instance runs only where ``predicate`` (over loop variables) holds.  ``body`` (and
    ``init``, for reductions) use iteration variables and sizes only, never loop
    variables, and hold ``Store``, ``Let``, ``If`` and ``Seq``, no loops.

    ``init``, if there, runs for an element before the first of its updates in ``body``:
    logically, when all reduction iterations are at their first value.
    ``name`` is canonical (``b2``), ``label`` is the user's word for it.
    """

    __slots__ = (
        "annotations", "bindings", "body", "init", "iters", "label", "name",
        "predicate",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        label: str,
        iters: tuple[IterVar, ...],
        bindings: tuple[Expr, ...],
        body: Stmt,
        init: Stmt | None = None,
        predicate: Expr = TRUE,
        annotations: Annotations = _NO_ANNOTATIONS,
    ) -> None:
        self.name = name
        self.label = label
        self.iters = iters
        self.bindings = bindings
        self.body = body
        self.init = init
        self.predicate = predicate
        self.annotations = annotations

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (*self.bindings, self.predicate)

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return (self.body,) if self.init is None else (self.body, self.init)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Block:
        return self.with_(
            bindings=exprs[:-1],
            predicate=exprs[-1],
            body=bodies[0],
            init=bodies[1] if len(bodies) > 1 else None,
        )

    def with_(self, **changes: Any) -> Block:
        """A new block like this one, but for the fields given."""
        fields = {n: getattr(self, n) for n in Block.__slots__}
        return Block(**{**fields, **changes})


class Store(Stmt):
    """``buffer[indices] = value``; vector index, value and mask as in ``Load``."""

    __slots__ = ("buffer", "indices", "mask", "value")

    def __init__(
        self,
        buffer: Buffer,
        indices: tuple[Expr, ...],
        value: Expr,
        mask: Expr | None = None,
    ) -> None:
        self.buffer = buffer
        self.indices = indices
        self.value = value
        self.mask = mask

    @property
    def exprs(self) -> tuple[Expr, ...]:
        tail = () if self.mask is None else (self.mask,)
        return (*self.indices, self.value, *tail)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Store:
        n = len(self.indices)
        mask = None if self.mask is None else exprs[n + 1]
        return Store(self.buffer, exprs[:n], exprs[n], mask)


class Seq(Stmt):
    """Statements one after the other; build it with ``seq``."""

    __slots__ = ("stmts",)

    def __init__(self, stmts: tuple[Stmt, ...]) -> None:
        self.stmts = stmts

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return self.stmts

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Stmt:
        return seq(bodies)


def seq(stmts: tuple[Stmt, ...] | list[Stmt]) -> Stmt:
    """``stmts`` in order: nested sequences are spliced, a single one stands alone."""
    flat: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, Seq):
            flat.extend(stmt.stmts)
        else:
            flat.append(stmt)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


class If(Stmt):
    """``then`` where the scalar ``condition`` holds, else ``orelse`` (if there)."""

    __slots__ = ("condition", "orelse", "then")

    def __init__(self, condition: Expr, then: Stmt, orelse: Stmt | None = None) -> None:
        self.condition = condition
        self.then = then
        self.orelse = orelse

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.condition,)

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return (self.then,) if self.orelse is None else (self.then, self.orelse)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> If:
        return If(exprs[0], bodies[0], bodies[1] if len(bodies) > 1 else None)


class Let(Stmt):
    """``var = value`` in ``body``: ``value`` is evaluated once, before ``body``."""

    __slots__ = ("body", "value", "var")

    def __init__(self, var: Var, value: Expr, body: Stmt) -> None:
        self.var = var
        self.value = value
        self.body = body

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return (self.body,)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Let:
        return Let(self.var, exprs[0], bodies[0])


class Allocate(Stmt):
    """``buffer`` exists, with undefined contents, while ``body`` runs."""

    __slots__ = ("body", "buffer")

    def __init__(self, buffer: Buffer, body: Stmt) -> None:
        self.buffer = buffer
        self.body = body

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.buffer.shape

    @property
    def bodies(self) -> tuple[Stmt, ...]:
        return (self.body,)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Allocate:
        # The shape belongs to the buffer, which is nominal: it is never rewritten here.
        return Allocate(self.buffer, bodies[0])


class Evaluate(Stmt):
    """An expression evaluated for its effect: an extern call or a barrier."""

    __slots__ = ("value",)

    def __init__(self, value: Expr) -> None:
        self.value = value

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return (self.value,)

    def rebuild(self, exprs: tuple[Expr, ...], bodies: tuple[Stmt, ...]) -> Evaluate:
        return Evaluate(exprs[0])
