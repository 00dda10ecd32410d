"""Expressions: immutable, hash-consed nodes with identity equality.

Two structurally equal expressions are the same object (``Var`` and ``Buffer`` are
nominal: each is itself only), so nodes are dict keys and memo tables are trivial.
``==`` compares identity; use ``te.equal`` or ``Compare("eq", …)`` for the operator.
Constructors never simplify: the DAG as written is what gets hashed and logged.

Every class declares its child expressions through ``children`` and rebuilds itself
with ``with_children``, so one visitor and one rewriter (``ir.visitor``) serve all.
"""

from __future__ import annotations

import struct
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from tecomp.dtypes import BOOL, INT64, DType, dtype
from tecomp.errors import TEError

if TYPE_CHECKING:
    from tecomp.ir.buffer import Buffer


class _Entry(weakref.ref["Expr"]):
    __slots__ = ("key",)
    key: tuple[Any, ...]


_TABLE: dict[tuple[Any, ...], _Entry] = {}


def _forget(entry: _Entry) -> None:
    # A new node may have taken the key before the old one's callback ran.
    if _TABLE.get(entry.key) is entry:
        del _TABLE[entry.key]


def _find(key: tuple[Any, ...]) -> Any:
    entry = _TABLE.get(key)
    return None if entry is None else entry()


def _keep(key: tuple[Any, ...], node: Any) -> None:
    entry = _Entry(node, _forget)  # type: ignore[arg-type]  # the stub knows only ref
    entry.key = key
    _TABLE[key] = entry


def interned_count() -> int:
    """How many expressions are alive: tests use it to see that builds do not leak."""
    return len(_TABLE)


class Expr:
    """Base of all expressions.  ``dtype`` carries the lanes of vector values."""

    __slots__ = ("__weakref__", "dtype")
    dtype: DType
    is_leaf: ClassVar[bool] = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return self

    # -- operators: they build nodes, promoting operands as `ir.promote` documents --
    def __add__(self, other: ExprLike) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return binary("and", self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return binary("and", other, self)

    def __or__(self, other: ExprLike) -> Expr:
        return binary("or", self, other)

    def __ror__(self, other: ExprLike) -> Expr:
        return binary("or", other, self)

    def __xor__(self, other: ExprLike) -> Expr:
        return binary("xor", self, other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return binary("xor", other, self)

    def __lshift__(self, other: ExprLike) -> Expr:
        return binary("shl", self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return binary("shl", other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return binary("shr", self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return binary("shr", other, self)

    def __neg__(self) -> Expr:
        # -x is not 0 - x: the sign of zero is kept.
        if self.dtype.is_float:
            return Call("neg", (self,), self.dtype)
        return binary("sub", 0, self)

    def __invert__(self) -> Expr:
        return Not(self) if self.dtype.is_bool else binary("xor", self, -1)

    def __lt__(self, other: ExprLike) -> Expr:
        return compare("lt", self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return compare("le", self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return compare("gt", self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return compare("ge", self, other)

    def equal(self, other: ExprLike) -> Expr:
        """The comparison ``self == other`` as an expression."""
        return compare("eq", self, other)

    def astype(self, to: str) -> Expr:
        """``self`` converted to the data type ``to``."""
        return Cast(self, dtype(to))

    def __bool__(self) -> bool:
        raise TEError(
            "the expression {expr} has no truth value while the program is built; "
            "use te.if_then_else, te.all or te.any",
            expr=self,
        )

    def __iter__(self) -> Any:
        raise TEError("the expression {expr} is a scalar: not iterable", expr=self)

    def __repr__(self) -> str:
        from tecomp.ir.printer import print_expr

        return print_expr(self)

    def __reduce__(self) -> Any:
        raise TypeError("expressions serialise through tecomp.ir.json, not pickle")


ExprLike = Expr | int | float | bool


class Var(Expr):
    """A scalar variable: a loop, a block iteration, a symbolic size or a knob.

    Nominal: two variables of one name are different.
    """

    __slots__ = ("name",)
    is_leaf = True

    def __init__(self, name: str, dtype: DType = INT64) -> None:
        self.name = name
        self.dtype = dtype


class ReduceAxis(Var):
    """An axis that a reduction runs over, ``begin <= axis < begin + extent``.

    It is a variable: use it in index and value expressions of that reduction.
    """

    __slots__ = ("begin", "extent")

    def __init__(self, name: str, extent: Expr, begin: Expr | None = None) -> None:
        super().__init__(name)
        self.extent = extent
        self.begin = ZERO if begin is None else begin


class Const(Expr):
    """A literal.  ``value`` is an ``int``, ``float`` or ``bool`` that fits ``dtype``."""

    __slots__ = ("value",)
    value: Any
    is_leaf = True

    def __new__(cls, value: Any, dtype: DType = INT64) -> Const:
        # -0.0 == 0.0, True == 1 and nan != nan: the key holds the bits of a float.
        bits = struct.pack("<d", value) if dtype.is_float else value
        key = (Const, dtype, bits)
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.value = (
                float(value)
                if dtype.is_float
                else bool(value)
                if dtype.is_bool
                else int(value)
            )
            node.dtype = dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]  # the table is untyped


ARITHMETIC = ("add", "sub", "mul", "div", "floordiv", "floormod", "truncdiv", "truncmod")
BINARY_OPS = (*ARITHMETIC, "min", "max", "and", "or", "xor", "shl", "shr", "pow")


class Binary(Expr):
    """``a op b`` with both operands and the result of one type.

    ``add sub mul`` wrap on integers.  ``div`` is for floats.  ``floordiv/floormod``
    round to −∞, ``truncdiv/truncmod`` to 0.  ``min/max`` return NaN if either is NaN.
    ``and/or/xor`` are logical on bool (both sides evaluated), bitwise on integers.
    ``shr`` is arithmetic on signed integers.
    """

    __slots__ = ("a", "b", "op")
    op: str
    a: Expr
    b: Expr

    def __new__(cls, op: str, a: Expr, b: Expr) -> Binary:
        key = (op, id(a), id(b))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.a, node.b, node.dtype = op, a, b, a.dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.a, self.b

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Binary(self.op, *children)


COMPARE_OPS = ("eq", "ne", "lt", "le", "gt", "ge")


class Compare(Expr):
    """``a op b`` as a bool, lane by lane."""

    __slots__ = ("a", "b", "op")
    op: str
    a: Expr
    b: Expr

    def __new__(cls, op: str, a: Expr, b: Expr) -> Compare:
        key = (op, id(a), id(b))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.a, node.b = op, a, b
            node.dtype = BOOL.with_lanes(a.dtype.lanes)
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.a, self.b

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Compare(self.op, *children)


class Not(Expr):
    """Logical negation of a bool, lane by lane."""

    __slots__ = ("a",)
    a: Expr

    def __new__(cls, a: Expr) -> Not:
        key = (Not, id(a))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.a, node.dtype = a, a.dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.a,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Not(children[0])


class Select(Expr):
    """``a`` where ``condition`` holds, else ``b``; the side not taken is never loaded.

    A vector condition chooses lane by lane, and is lazy lane by lane too.
    """

    __slots__ = ("a", "b", "condition")
    condition: Expr
    a: Expr
    b: Expr

    def __new__(cls, condition: Expr, a: Expr, b: Expr) -> Select:
        key = (Select, id(condition), id(a), id(b))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.condition, node.a, node.b, node.dtype = condition, a, b, a.dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.condition, self.a, self.b

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Select(*children)


class Cast(Expr):
    """``a`` converted to ``dtype`` (of as many lanes).

    Integer to integer wraps.  Float to integer truncates and saturates, NaN gives 0.
    To bool is ``a != 0``.  Float to float rounds to nearest even.
    """

    __slots__ = ("a",)
    a: Expr

    def __new__(cls, a: Expr, dtype: DType) -> Cast:
        key = (Cast, id(a), dtype)
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.a, node.dtype = a, dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.a,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Cast(children[0], self.dtype)


class Load(Expr):
    """The element of ``buffer`` at ``indices``.

    Up to level *scheduled* there is one scalar index a dimension.  From level *flat*
    on there is one index, an element offset; it may be a vector, and then ``mask``
    (a bool vector, or ``None``) says which lanes are read (the others give zero).
    """

    __slots__ = ("buffer", "indices", "mask")
    buffer: Buffer
    indices: tuple[Expr, ...]
    mask: Expr | None

    def __new__(
        cls, buffer: Buffer, indices: tuple[Expr, ...], mask: Expr | None = None
    ) -> Load:
        key = (Load, id(buffer), *map(id, indices), id(mask))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.buffer, node.indices, node.mask = buffer, indices, mask
            lanes = indices[0].dtype.lanes if len(indices) == 1 else 1
            node.dtype = buffer.dtype.with_lanes(lanes) if lanes > 1 else buffer.dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.indices if self.mask is None else (*self.indices, self.mask)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        n = len(self.indices)
        return Load(self.buffer, children[:n], children[n] if self.mask else None)


class Call(Expr):
    """A pure intrinsic, by name: see ``ir.intrinsics`` for the list and meanings."""

    __slots__ = ("args", "name")
    name: str
    args: tuple[Expr, ...]

    def __new__(cls, name: str, args: tuple[Expr, ...], dtype: DType) -> Call:
        key = (Call, name, dtype, *map(id, args))
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.name, node.args, node.dtype = name, args, dtype
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        lanes = max((c.dtype.lanes for c in children), default=1)
        return Call(self.name, children, self.dtype.with_lanes(lanes))


class Reducer:
    """How a reduction combines: an identity and a combiner of one or more values.

    ``lhs``/``rhs`` are the variables of the accumulator and of the new value;
    ``results`` combine them; ``identities`` are constants.  ``name`` is one of
    ``sum prod max min all any`` or a user's own.
    """

    __slots__ = ("identities", "lhs", "name", "results", "rhs")

    def __init__(
        self,
        name: str,
        lhs: tuple[Var, ...],
        rhs: tuple[Var, ...],
        results: tuple[Expr, ...],
        identities: tuple[Expr, ...],
    ) -> None:
        self.name = name
        self.lhs = lhs
        self.rhs = rhs
        self.results = results
        self.identities = identities


class Reduce(Expr):
    """Only in te: ``values`` combined by ``reducer`` over ``axes`` where ``where``.

    ``init`` (or ``None``) are the
    starting values in place of the identities.  ``index`` picks one value of a tuple.
    """

    __slots__ = ("axes", "index", "init", "reducer", "values", "where")
    reducer: Reducer
    values: tuple[Expr, ...]
    axes: tuple[ReduceAxis, ...]
    where: Expr
    init: tuple[Expr, ...] | None
    index: int

    def __new__(
        cls,
        reducer: Reducer,
        values: tuple[Expr, ...],
        axes: tuple[ReduceAxis, ...],
        where: Expr,
        init: tuple[Expr, ...] | None = None,
        index: int = 0,
    ) -> Reduce:
        node = object.__new__(cls)
        node.reducer, node.values, node.axes = reducer, values, axes
        node.where, node.init, node.index = where, init, index
        node.dtype = values[index].dtype
        return node

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.values, self.where, *(self.init or ()))

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        n = len(self.values)
        init = children[n + 1 :] if self.init is not None else None
        return Reduce(
            self.reducer, children[:n], self.axes, children[n], init, self.index
        )


class Ramp(Expr):
    """The vector ``base + stride·(0, 1, …, lanes-1)`` of integers."""

    __slots__ = ("base", "stride")
    base: Expr
    stride: Expr

    def __new__(cls, base: Expr, stride: Expr, lanes: int) -> Ramp:
        key = (Ramp, id(base), id(stride), lanes)
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.base, node.stride = base, stride
            node.dtype = base.dtype.with_lanes(lanes)
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.base, self.stride

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Ramp(*children, self.dtype.lanes)


class Broadcast(Expr):
    """The scalar ``value`` in every lane."""

    __slots__ = ("value",)
    value: Expr

    def __new__(cls, value: Expr, lanes: int) -> Broadcast:
        key = (Broadcast, id(value), lanes)
        node = _find(key)
        if node is None:
            node = object.__new__(cls)
            node.value, node.dtype = value, value.dtype.with_lanes(lanes)
            _keep(key, node)
        return node  # type: ignore[no-any-return]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.value,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return Broadcast(children[0], self.dtype.lanes)


TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
ZERO = Const(0)
ONE = Const(1)


def const(value: ExprLike, like: DType | str | None = None) -> Expr:
    """A literal of type ``like``; without one, int64, float32 or bool by its type.

    A vector type gives a ``Broadcast``.  Raises ``TEError`` for a value that does not
    fit the type.
    """
    if isinstance(value, Expr):
        return value
    if hasattr(value, "item"):  # a NumPy scalar
        like = dtype(value.dtype) if like is None else like
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise TEError("{value!r} is not a number", value=value)
    if like is None:
        like = "bool" if value is True or value is False else (
            "int64" if isinstance(value, int) else "float32"
        )
    of = dtype(like)
    if of.lanes > 1:
        return Broadcast(const(value, of.scalar), of.lanes)
    if of.is_int:
        lo, hi = of.int_range
        if isinstance(value, float) and not value.is_integer():
            raise TEError("{value} is not a value of type {of}", value=value, of=of)
        if not lo <= value <= hi:
            raise TEError("{value} does not fit the type {of}", value=value, of=of)
    return Const(value, of)


def promote(a: ExprLike, b: ExprLike, what: str) -> tuple[Expr, Expr]:
    """``a`` and ``b`` brought to one type.

    A Python number takes the type of the other operand, except that a float beside an
    integer expression gives float32.  bool < integers < floats; of one kind the wider
    wins; a signed and an unsigned integer, or float16 and bfloat16, need a cast by hand.
    """
    if not isinstance(a, Expr):
        if not isinstance(b, Expr):
            a = const(a)
        elif isinstance(a, float) and not b.dtype.is_float:
            a = const(a)
        else:
            a = const(a, b.dtype.scalar if not b.dtype.is_bool else None)
    if not isinstance(b, Expr):
        wide = isinstance(b, float) and not a.dtype.is_float
        b = const(b) if wide or a.dtype.is_bool else const(b, a.dtype.scalar)
    ta, tb = a.dtype, b.dtype
    if ta is tb:
        return a, b
    lanes = max(ta.lanes, tb.lanes)
    if ta.lanes < lanes:
        a = Broadcast(a, lanes)
    if tb.lanes < lanes:
        b = Broadcast(b, lanes)
    sa, sb = ta.scalar, tb.scalar
    if sa is sb:
        return a, b
    wider = _common(sa, sb)
    if wider is None:
        raise TEError(
            "{what} of {a} and {b}: no common type; cast one of them",
            what=what, a=sa, b=sb,
        )  # fmt: skip
    to = wider.with_lanes(lanes)
    return (a if sa is wider else Cast(a, to)), (b if sb is wider else Cast(b, to))


def _common(a: DType, b: DType) -> DType | None:
    rank = {"bool": 0, "uint": 1, "int": 1, "float": 2, "bfloat": 2}
    if rank[a.kind] != rank[b.kind]:
        return a if rank[a.kind] > rank[b.kind] else b
    if a.kind != b.kind and (a.is_int or a.bits == b.bits):
        return None
    return a if a.bits > b.bits else b


def binary(op: str, a: ExprLike, b: ExprLike) -> Expr:
    """``Binary(op, a, b)`` after promotion; raises ``TEError`` for types without it."""
    x, y = promote(a, b, op)
    kind = x.dtype
    if op == "div" and not kind.is_float:
        raise TEError(
            "/ of {of} values: use // (floordiv), te.truncdiv, or cast to float", of=kind
        )
    if op in ("and", "or", "xor", "shl", "shr") and kind.is_float:
        raise TEError("{op} of {of} values: it is for bool and integers", op=op, of=kind)
    if kind.is_bool and op not in ("and", "or", "xor", "min", "max"):
        x, y = Cast(x, INT64.with_lanes(kind.lanes)), Cast(y, INT64.with_lanes(kind.lanes))
    return Binary(op, x, y)


def compare(op: str, a: ExprLike, b: ExprLike) -> Expr:
    """``Compare(op, a, b)`` after promotion."""
    return Compare(op, *promote(a, b, op))
