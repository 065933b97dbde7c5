"""The one place that prints: what a session holds does not steer the terminal that shows it, whatever that can show."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, TextIO

import click

from foldline._cli.wrapping import wrapped
from foldline._visible import visible

_PLAIN = str.maketrans("━█▏▎▍▌▋▊▉░…→·✓✗⚠💡±×“”‘’–—⟪⟫", "-#:::::##.~>-+!!!~x\"\"''--<>")
"""What a terminal shows that does not know how foldline draws."""


def prepare_streams() -> None:
    """Lets standard output and error write in any encoding: what it has no character for is drawn in plainer ones.

    A stream that is closed becomes one of which nothing comes: empty input, output without a reader, errors unseen.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  open to the end
    sys.stdout = sys.stdout or _unread()
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  open to the end
    codecs.register_error("plainer", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plainer")


def _unread() -> TextIO:
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w")


def _plainer(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    plain = error.object[error.start : error.end].translate(_PLAIN)
    return plain.encode("ascii", "replace").decode(), error.end


class Tinted(NamedTuple):
    """A text in a colour, where the terminal has colours and its user wants them."""

    text: str
    colour: str

    def shown(self, coloured: bool) -> str:
        """The text as it is printed."""
        return click.style(visible(self.text), self.colour) if coloured else visible(self.text)


class Exact(str):
    """A text that is somebody's words: a file or a pipe takes it to the byte, a terminal visibly."""

    __slots__ = ()


UNLIMITED = 1 << 20
"""Characters of a line that no terminal breaks."""


def columns(stream: TextIO | None = None) -> int:
    """Characters of a line where a stream goes, standard output unless named: without end where that is no terminal."""
    try:
        return os.get_terminal_size((stream or sys.stdout).fileno()).columns or UNLIMITED
    except (OSError, ValueError):
        return UNLIMITED


def room(beside: int, most: int, width: int | None = None) -> int:
    """Characters that a bar has beside so many others in a line, the terminal's unless its width is named.

    They are `most` where there is room, and none where fewer than 4 are left.
    """
    left = (columns() if width is None else width) - beside
    return min(most, left) if left >= 4 else 0


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints a line or more, visibly, to standard output unless named; a terminal shows long ones broken between words."""
    stream = stream or sys.stdout
    print(wrapped(visible(text), columns(stream)), file=stream, flush=True)


def warn(text: str) -> None:
    """Says what is to be known on standard error, where there is something."""
    if text:
        say(text, sys.stderr)


def say_tinted(pieces: Iterable[str | Tinted]) -> None:
    """Prints pieces of text that make lines which fit, in colours where a terminal has them and its user wants them."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    shown = (visible(each) if isinstance(each, str) else each.shown(coloured) for each in pieces)
    print("".join(shown), flush=True)


def hand_on(text: Exact) -> None:
    """Prints words as they are, unless a terminal shows them: visibly then, line by line as they were written."""
    if sys.stdout.isatty():
        print(visible(text), flush=True)
    else:
        click.echo(text.removesuffix("\n").encode("utf-8", "replace"))


def say_over(text: str) -> None:
    """A line of progress that the next one is written over; none where standard error is no terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{visible(text)}", err=True, nl=False)


def say_json(value: object) -> None:
    """Prints a value as indented JSON in ASCII, which every terminal and every encoding takes as it is."""
    import msgspec

    plain = whole(value)
    try:
        text = msgspec.json.format(json.dumps(plain), indent=2)
    except msgspec.DecodeError:  # halves of characters, which only the slower one takes
        text = json.dumps(plain, indent=2)
    click.echo(text)


def whole(value: object) -> Any:
    """A value as plain data with all of its fields, those at their defaults among them."""
    import msgspec

    if isinstance(value, msgspec.Struct):
        about = value.__struct_config__
        tag = {about.tag_field: about.tag} if about.tag_field else {}
        fields = msgspec.structs.fields(type(value))
        return tag | {field.encode_name: whole(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {str(key): whole(each) for key, each in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        return [whole(each) for each in value]
    return msgspec.to_builtins(value)
