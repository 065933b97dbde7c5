"""Every error that foldline raises.

```
FoldlineError
├─ FormatError        bytes or dicts that cannot be read          .where
│   ├─ WireError      a provider message                          .format
│   ├─ SessionError   a session file                              .path .line
│   └─ StateError     what a compactor dumped
├─ CompactionError
│   ├─ UnsafeEdit     a strategy split a pair or hit a pin        .edit
│   ├─ SummaryFailed  the summarizer failed                       .cause
│   └─ CannotFit      over budget after the last layer            .tokens .limit .in_the_way
├─ ContextOverflow    the provider said so                        .limit .tokens
├─ ReplyCutOff        a reply hit its output limit, no fold helps .available
├─ ProviderError      any other upstream failure                  .status
└─ ConfigError        unknown key, impossible value               .path .key
```
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any


class FoldlineError(Exception):
    """The root of the tree; catching it catches all that foldline raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle keeps: the error as it stands, since most are not made of their message alone."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class FormatError(FoldlineError):
    """Bytes or values that cannot be read; `where` names the place inside them."""

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where


class WireError(FormatError):
    """A provider message that is not of its `format`."""

    def __init__(self, message: str, *, format: str, where: str = "") -> None:
        super().__init__(message, where=where or format)
        self.format = format


class SessionError(FormatError):
    """A session file that cannot be used; `line` counts from 1 and is None where no line is to blame."""

    def __init__(self, message: str, *, path: str, line: int | None = None) -> None:
        super().__init__(message, where=path if line is None else f"{path}:{line}")
        self.path = path
        self.line = line


class StateError(FormatError):
    """A dumped state of a compactor that is damaged, or of a newer version."""


class CompactionError(FoldlineError):
    """A fold that could not be made."""


class UnsafeEdit(CompactionError):
    """A proposed edit that would split a pair, touch a pin or break what a provider accepts."""

    def __init__(self, message: str, *, edit: Any = None) -> None:
        super().__init__(message)
        self.edit = edit


class SummaryFailed(CompactionError):
    """The summarizer gave nothing that can be installed."""

    def __init__(self, message: str, *, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.cause = cause


class CannotFit(CompactionError):
    """The history is over its limit after the last layer.

    `tokens` is the least that could be reached, `limit` what was allowed, both in `unit` (tokens, bytes or images),
    and `in_the_way` names what could not give, largest first, as `(what, tokens)`.
    """

    def __init__(
        self, tokens: int, limit: int, in_the_way: Sequence[tuple[str, int]] = (), *, unit: str = "tokens"
    ) -> None:
        named = "; ".join(f"{what} ({n:,} tokens)" for what, n in in_the_way[:5])
        super().__init__(
            f"cannot fit: {tokens:,} {unit} remain, {limit:,} allowed" + (f"; in the way: {named}" if named else "")
        )
        self.unit = unit
        self.tokens = tokens
        self.limit = limit
        self.in_the_way = tuple(in_the_way)


class ContextOverflow(FoldlineError):
    """The provider refused a request as too long; the numbers are the ones it stated, where it stated any.

    `unit` is "bytes" where it was too large to be read at all, whatever its tokens.
    """

    def __init__(
        self, message: str, *, limit: int | None = None, tokens: int | None = None, unit: str = "tokens"
    ) -> None:
        super().__init__(message)
        self.unit = unit
        self.limit = limit
        self.tokens = tokens


class ReplyCutOff(FoldlineError):
    """A reply hit its output limit where a smaller history would not help: the window has room, or nothing can give.

    Ask for less at once, or allow a longer reply. `available` is how many tokens of the window were left beside the
    request.
    """

    def __init__(self, message: str, *, available: int = 0) -> None:
        super().__init__(message)
        self.available = available


class ProviderError(FoldlineError):
    """Any other failure upstream, with its HTTP status where there was one."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ConfigError(FoldlineError):
    """A setting that cannot be used; `path` is the file (or variable, or flag) and `key` the setting."""

    def __init__(self, message: str, *, path: str, key: str = "") -> None:
        super().__init__(f"{path}: {key}: {message}" if key else f"{path}: {message}")
        self.path = path
        self.key = key
