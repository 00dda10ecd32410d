"""The one visitor and the one rewriter of expressions, and their kin for statements.

Expression walks use an explicit stack and a memo by node, so that a chain thousands of
nodes deep never meets Python's recursion limit and shared nodes are visited once.
Statement trees are shallow and walked by recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from tecomp.ir.buffer import Buffer
from tecomp.ir.expr import Expr, Load, Var
from tecomp.ir.stmt import Allocate, Block, For, Let, Seq, Stmt, Store


def post_order(*roots: Expr) -> list[Expr]:
    """Every node below ``roots`` once, children before parents."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        node, is_expanded = stack.pop()
        if is_expanded:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            if node.is_leaf:
                order.append(node)
                continue
            stack.append((node, True))
            for child in reversed(node.children):
                if child not in seen:
                    stack.append((child, False))
    return order


def rewrite_expr(
    root: Expr,
    rule: Callable[[Expr], Expr | None],
    memo: dict[Expr, Expr] | None = None,
) -> Expr:
    """``root`` with ``rule`` applied bottom-up to every node, once each.

    ``rule`` gets a node whose children are already rewritten and returns its
    replacement, or ``None`` to keep it.  ``memo`` may be shared between calls with
    the same rule.
    """
    done: dict[Expr, Expr] = {} if memo is None else memo
    hit = done.get(root)
    if hit is not None:
        return hit
    stack = [root]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        children = node.children
        waiting = [c for c in children if c not in done]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        new = node
        if children:
            rebuilt = tuple([done[c] for c in children])
            if rebuilt != children:
                new = node.with_children(rebuilt)
        result = rule(new)
        done[node] = new if result is None else result
    return done[root]


def substitute(
    root: Expr, values: Mapping[Var, Expr], memo: dict[Expr, Expr] | None = None
) -> Expr:
    """``root`` with variables replaced.  Nothing is simplified."""
    if not values:
        return root
    get = values.get
    return rewrite_expr(
        root, lambda n: get(n) if isinstance(n, Var) else None, memo
    )


def free_vars(*roots: Expr) -> set[Var]:
    """The variables that stand in ``roots``."""
    return {n for n in post_order(*roots) if isinstance(n, Var)}


def loads(*roots: Expr) -> list[Load]:
    """The loads that stand in ``roots``, inner ones first."""
    return [n for n in post_order(*roots) if isinstance(n, Load)]


def walk(stmt: Stmt) -> Iterator[Stmt]:
    """``stmt`` and all statements below it, parents first, in program order."""
    stack = [stmt]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.bodies))


def map_stmt(stmt: Stmt, function: Callable[[Stmt], Stmt | None]) -> Stmt:
    """Rewrite bottom-up: ``function`` gets each statement after its children.

    It returns a replacement or ``None``.  What does not change keeps its identity.
    """
    bodies = stmt.bodies
    if bodies:
        new = tuple([map_stmt(b, function) for b in bodies])
        if any(n is not b for n, b in zip(new, bodies, strict=True)):
            stmt = stmt.rebuild(stmt.exprs, new)
    result = function(stmt)
    return stmt if result is None else result


def map_exprs(stmt: Stmt, function: Callable[[Expr], Expr]) -> Stmt:
    """Rewrite every expression that stands in ``stmt`` or below it.

    The bodies of blocks are included.
    """

    def change(node: Stmt) -> Stmt | None:
        old = node.exprs
        new = tuple([function(e) for e in old])
        return None if new == old else node.rebuild(new, node.bodies)

    return map_stmt(stmt, change)


def substitute_stmt(stmt: Stmt, values: Mapping[Var, Expr]) -> Stmt:
    """``stmt`` with free variables replaced in all its expressions."""
    if not values:
        return stmt
    memo: dict[Expr, Expr] = {}
    return map_exprs(stmt, lambda e: substitute(e, values, memo))


def replace_buffers(stmt: Stmt, new: Mapping[Buffer, Buffer]) -> Stmt:
    """``stmt`` with buffers swapped for others of the same rank, indices as they are."""

    def swap(node: Expr) -> Expr | None:
        if isinstance(node, Load) and node.buffer in new:
            return Load(new[node.buffer], node.indices, node.mask)
        return None

    memo: dict[Expr, Expr] = {}

    def swap_store(node: Stmt) -> Stmt | None:
        if isinstance(node, Store) and node.buffer in new:
            return Store(new[node.buffer], node.indices, node.value, node.mask)
        if isinstance(node, Allocate) and node.buffer in new:
            return Allocate(new[node.buffer], node.body)
        return None

    return map_stmt(map_exprs(stmt, lambda e: rewrite_expr(e, swap, memo)), swap_store)


def blocks(stmt: Stmt) -> list[Block]:
    """All blocks below ``stmt`` in program order."""
    return [s for s in walk(stmt) if isinstance(s, Block)]


def loops(stmt: Stmt) -> list[For]:
    """All loops below ``stmt``, outer before inner, in program order."""
    return [s for s in walk(stmt) if isinstance(s, For)]


def path_to(root: Stmt, target: Stmt) -> tuple[Stmt, ...] | None:
    """The statements from ``root`` down to ``target``, both included."""
    if root is target:
        return (root,)
    for body in root.bodies:
        below = path_to(body, target)
        if below is not None:
            return (root, *below)
    return None


def replace_stmt(root: Stmt, old: Stmt, new: Stmt) -> Stmt:
    """``root`` with the one statement ``old`` (by identity) replaced by ``new``."""
    if root is old:
        return new
    bodies = root.bodies
    for at, body in enumerate(bodies):
        changed = replace_stmt(body, old, new)
        if changed is not body:
            return root.rebuild(root.exprs, (*bodies[:at], changed, *bodies[at + 1 :]))
    return root


def stores(stmt: Stmt) -> list[Store]:
    """All stores below ``stmt`` in program order."""
    return [s for s in walk(stmt) if isinstance(s, Store)]


def read_buffers(stmt: Stmt) -> list[Buffer]:
    """The buffers loaded from below ``stmt``, in order of first appearance."""
    found: dict[Buffer, None] = {}
    for node in walk(stmt):
        for load in loads(*node.exprs):
            found.setdefault(load.buffer)
    return list(found)


def written_buffers(stmt: Stmt) -> list[Buffer]:
    """The buffers stored to below ``stmt``, in order of first appearance."""
    return list(dict.fromkeys(s.buffer for s in stores(stmt)))


def bound_vars(stmt: Stmt) -> Iterable[Var]:
    """The variables that loops, lets and block iterations below ``stmt`` define."""
    for node in walk(stmt):
        if isinstance(node, (For, Let)):
            yield node.var
        elif isinstance(node, Block):
            yield from (it.var for it in node.iters)


__all__ = [
    "Seq", "blocks", "bound_vars", "free_vars", "loads", "loops", "map_exprs",
    "map_stmt", "path_to", "post_order", "read_buffers", "replace_buffers",
    "replace_stmt", "rewrite_expr", "stores", "substitute", "substitute_stmt", "walk",
    "written_buffers",
]  # fmt: skip
