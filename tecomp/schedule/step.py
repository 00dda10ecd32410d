"""Steps: schedule primitives as small plain values.

A step is a frozen dataclass of plain values (or ``Knob``s).  ``transform`` checks that
it is legal, does it, and tells the names of what it made; ``Func`` is immutable, so a
refused step leaves everything as it was.  Steps name loops, blocks and buffers by
their canonical names only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tecomp.errors import LogError, ScheduleError
from tecomp.ir.expr import Expr, Var, const
from tecomp.ir.func import Func


@dataclass(frozen=True)
class Knob:
    """A value left open: the tuner picks one of ``choices`` (positive integers)."""

    name: str
    choices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.choices or min(self.choices) < 1:
            raise ScheduleError(
                "knob {name}: choices {choices} are not positive integers",
                name=self.name,
                choices=self.choices,
            )

    def __repr__(self) -> str:
        return f"tc.knob({self.name!r}, {list(self.choices)})"


@dataclass(frozen=True)
class Applied:
    """What a step did: the new function, and the names of what it made, in order."""

    func: Func
    made: tuple[str, ...] = ()


_STEPS: dict[str, type[Step]] = {}


@dataclass(frozen=True)
class Step:
    """Base of all steps; a subclass registers itself under its ``name``."""

    name: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            _STEPS[cls.name] = cls

    def transform(self, func: Func) -> Applied:
        """Check and do the step.  Raises ``ScheduleError`` if it is not legal."""
        raise NotImplementedError

    def check(self, func: Func) -> None:
        """Raise ``ScheduleError`` if the step is not legal on ``func``."""
        self.transform(func)

    def apply(self, func: Func) -> Func:
        """``func`` with the step done.  Raises ``ScheduleError`` if not legal."""
        return self.transform(func).func

    def knobs(self) -> list[Knob]:
        """The knobs that stand in the fields, in order."""
        found: list[Knob] = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Knob):
                    found.append(item)
        return found

    def bind(self, values: Mapping[str, int]) -> Step:
        """The same step with every knob replaced by its value.

        Index-map text may name knobs too: a subclass with such a field overrides this.
        """
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Knob):
                changes[field.name] = values[value.name]
            elif isinstance(value, tuple) and any(isinstance(v, Knob) for v in value):
                changes[field.name] = tuple(
                    values[v.name] if isinstance(v, Knob) else v for v in value
                )
        return dataclasses.replace(self, **changes) if changes else self

    def to_json(self) -> list[Any]:
        """``[name, {field: value}]``, fields at their default left out."""
        fields: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.default is not dataclasses.MISSING and value == field.default:
                continue
            fields[field.name] = _plain(value)
        return [self.name, fields]

    @staticmethod
    def from_json(data: Any) -> Step:
        """The step that ``to_json`` wrote.  Raises ``LogError`` on anything else."""
        if not (isinstance(data, list) and len(data) == 2 and isinstance(data[1], dict)):
            raise LogError("not a step: {data!r:.200}", data=data)
        cls = _STEPS.get(data[0]) if isinstance(data[0], str) else None
        if cls is None:
            raise LogError("unknown step {name!r:.80}", name=data[0])
        known = {f.name for f in dataclasses.fields(cls)}
        extra = set(data[1]) - known
        if extra:
            raise LogError(
                "step {name}: unknown fields {extra}", name=data[0], extra=sorted(extra)
            )
        try:
            return cls(**{k: _from_plain(v) for k, v in data[1].items()})
        except TypeError as error:
            raise LogError("step {name}: {why}", name=data[0], why=error) from None

    def __repr__(self) -> str:
        """The step as runnable Python on a schedule called ``sch``."""
        shown = []
        for at, field in enumerate(dataclasses.fields(self)):
            value = getattr(self, field.name)
            if field.default is not dataclasses.MISSING and value == field.default:
                continue
            text = repr(list(value) if isinstance(value, tuple) else value)
            shown.append(text if at == 0 else f"{field.name}={text}")
        return f"sch.{self.name}({', '.join(shown)})"


def _plain(value: Any) -> Any:
    if isinstance(value, Knob):
        return {"knob": value.name, "choices": list(value.choices)}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value - value != 0:  # inf or NaN
        return {"float": value.hex()}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_plain(v) for v in value)
    if isinstance(value, dict):
        if set(value) == {"float"} and isinstance(value["float"], str):
            return float.fromhex(value["float"])
        if set(value) == {"knob", "choices"} and isinstance(value["knob"], str):
            return Knob(value["knob"], tuple(int(c) for c in value["choices"]))
        raise LogError("not a value of a step: {value!r:.200}", value=value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise LogError("not a value of a step: {value!r:.200}", value=value)


def knob_expr(value: int | Knob, func: Func) -> tuple[Expr, Func]:
    """The expression of a step's integer: a literal, or the variable of a knob.

    Knob variables are kept in ``func.attrs["knobs"]`` (name → (Var, choices)), so that
    the second use of a knob finds the first's; hence the function comes back too.
    """
    if not isinstance(value, Knob):
        return const(value), func
    known: Mapping[str, tuple[Var, tuple[int, ...]]] = func.attrs.get("knobs", {})
    if value.name in known:
        var, choices = known[value.name]
        if choices != value.choices:
            raise ScheduleError(
                "knob {name} has the choices {old} already, not {new}",
                name=value.name,
                old=choices,
                new=value.choices,
            )
        return var, func
    var = Var(value.name)
    knobs = {**known, value.name: (var, value.choices)}
    return var, func.with_(attrs={**func.attrs, "knobs": knobs})
