"""Functions: parameters, symbolic sizes, a body and the level it is at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tecomp.ir.buffer import Buffer
from tecomp.ir.expr import Var
from tecomp.ir.stmt import Stmt

LEVELS = ("naive", "scheduled", "flat", "target")


class Func:
    """A loop program.

    ``params`` in the user's order; the last ``output_count`` of those that blocks
    write are outputs (``outputs`` lists their positions).  ``sizes`` are the symbolic
    extents, passed to the kernel as int64.  ``key`` and ``family`` are the hashes of
    the te DAG that it came from.  ``attrs`` is small plain data for later stages.

    ``level``: *naive* (as created: a loop nest a block, no schedule), *scheduled*
    (blocks and loops in any shape), *flat* (no blocks, one element offset an access,
    vectors), *target* (ready for a backend).
    """

    __slots__ = (
        "attrs", "body", "family", "key", "level", "name", "outputs", "params", "sizes",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        params: tuple[Buffer, ...],
        outputs: tuple[int, ...],
        body: Stmt,
        *,
        sizes: tuple[Var, ...] = (),
        level: str = "naive",
        key: str = "",
        family: str = "",
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.params = params
        self.outputs = outputs
        self.body = body
        self.sizes = sizes
        self.level = level
        self.key = key
        self.family = family
        self.attrs: Mapping[str, Any] = attrs if attrs is not None else {}

    def with_(self, **changes: Any) -> Func:
        """A new function like this one, but for the fields given."""
        fields = {n: getattr(self, n) for n in Func.__slots__}
        fields.update(changes)
        return Func(**fields)

    def with_body(self, body: Stmt) -> Func:
        """Unchanged by identity if the body is."""
        return self if body is self.body else self.with_(body=body)

    def __repr__(self) -> str:
        from tecomp.ir.printer import print_func

        return print_func(self)
