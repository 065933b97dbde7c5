"""Pictures, documents and sounds: the oldest give way to a line that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from foldline._messages import Media, Message, Part, Text, ToolResult, replace
from foldline._strategies.strategy import Strategy, never_summarizes
from foldline._strategies.tool_outputs import STUB
from foldline._tokens.media import described
from foldline._tokens.payload import media_in
from foldline._view import Edit, View


def drop_media(measure: Callable[[Message], int]) -> Strategy:
    """Replaces the oldest media by lines that say what they were and the id to recall, as few as free the excess.

    `measure` is what the excess counts of a message: its pictures, or its bytes.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        for entry in view.entries:
            if excess <= 0:
                return
            if entry.pinned or not (media := media_in((entry.message,))):
                continue
            size, message, freed = measure(entry.message), entry.message, 0
            for each in media:
                message = replace(message, parts=tuple(_without(part, each, entry.id) for part in message.parts))
                if (freed := size - measure(message)) >= excess:
                    break
            excess -= freed
            yield Edit((entry.id,), (message,), by="drop_media")

    return strategy


def _without(part: Part, media: Media, id: str) -> Part:
    if part is media:
        return Text(f"{STUB}{described(media.kind, media.source)}; recall {id}]")
    if type(part) is ToolResult and any(p is media for p in part.parts):
        return replace(part, parts=tuple(_without(p, media, id) for p in part.parts))
    return part
