"""The errors that tecomp raises.

Each says what was asked, what is there, and what to do.  They store objects and
render in ``__str__``: a search raises thousands that nobody reads.
"""

from __future__ import annotations

from typing import Any


class TecompError(Exception):
    """Base of every error that tecomp raises on purpose.

    ``message`` is a ``str.format`` template; ``details`` are its fields, kept as
    objects and formatted only when the error is shown.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return self.message.format(**self.details) if self.details else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Details may hold IR nodes, which do not pickle: cross processes as text.
        return type(self), (str(self).replace("{", "{{").replace("}", "}}"),)


class TEError(TecompError):
    """A tensor expression that means nothing, or not what it seems to."""


class ScheduleError(TecompError):
    """A schedule step that is refused, because it would change the result.

    ``func`` and ``mark`` (the name of a loop or block) let the text show the loop
    program with the offending line marked.
    """

    def __init__(
        self, message: str, *, func: Any = None, mark: str | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.func = func
        self.mark = mark

    def __str__(self) -> str:
        text = super().__str__()
        if self.func is None:
            return text
        from tecomp.ir.printer import print_func

        return f"{text}\n\n{print_func(self.func, mark=self.mark)}"


class TargetError(TecompError):
    """A target string that can't be understood, or that this machine can't run."""


class BuildError(TecompError):
    """A function that could not be turned into machine code."""


class ArgumentError(TecompError):
    """An argument of a call that does not fit its parameter; nothing was written."""


class LogError(TecompError):
    """A log that can't be read or written, or that lacks a record asked for."""


class InternalError(TecompError):
    """A fault of tecomp itself: please report it with the text shown."""
