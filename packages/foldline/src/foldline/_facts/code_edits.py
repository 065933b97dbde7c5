"""What lines of Python that a command runs put in place of what, as agents edit files that have no tool for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from foldline._patterns import pattern

_RUN = pattern(
    r"(?:^|[;&|]\s*|\n)\s*(?:[\w./-]*/)?python[\d.]*\s+(?:-\s+)?<<-?\s*[\"']?(?P<end>\w+)[\"']?\n(?P<body>.*?)\n\s*(?P=end)[ \t]*(?=\n|\Z)"
    r"|python[\d.]* -c \"(?P<double>(?:[^\"\\]|\\.)*)\"|python[\d.]* -c '(?P<single>[^']*)'",
    re.DOTALL,
)
"""A command that runs lines of Python which it is given."""

_EDITS = (".replace(", "re.sub(")
_NO_ESCAPE = re.compile(r"\\(?![\\\n'\"abfnrtvxuUN0-7])")
"""A backslash that escapes nothing, of which Python warns; two of them say the same."""

_MOST = 20_000
"""Characters of such lines that are read."""


@lru_cache(maxsize=64)
def replaced(command: str) -> tuple[tuple[str, str], ...]:
    """The texts that such lines take away, each with the one in its place, where both are written there."""
    if "python" not in command or not any(edit in command for edit in _EDITS):
        return ()
    bodies = (found["body"] or _unescaped(found["double"]) or found["single"] or "" for found in _RUN.finditer(command))
    return tuple(pair for body in bodies for pair in _pairs(body[:_MOST]))


def _unescaped(code: str | None) -> str:
    return re.sub(r"\\([\"$`\\])", r"\1", code or "")


def _pairs(code: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(_NO_ESCAPE.sub(r"\\\\", code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    texts: dict[str, str] = {}
    for node in _in_order(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                texts[name] = text
            case ast.Call(func=ast.Attribute(attr="replace"), args=[old, new, *_]):
                yield from _both(old, new, texts)
            case ast.Call(func=ast.Attribute(attr="sub", value=ast.Name(id="re")), args=[old, new, _, *_]):
                yield from _both(old, new, texts)


def _in_order(tree: ast.AST) -> list[ast.AST]:
    return sorted(ast.walk(tree), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def _both(old: ast.expr, new: ast.expr, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    before, after = _text(old, texts), _text(new, texts)
    if before is not None and after is not None and (before, after) != ("", ""):
        yield before, after


def _text(node: ast.expr, texts: dict[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return texts.get(name)
    return None
