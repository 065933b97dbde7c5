"""The recall tool: a schema that any agent can mount, and what answers its calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from foldline._errors import FoldlineError, FormatError
from foldline._recall.answer import hits_answer, text_answer
from foldline._recall.index import Index, index_of
from foldline._recall.recalled import Recallable, Recalled, id_in, recalled
from foldline._recall.scope import Scope, is_session, scope, scope_of
from foldline._telemetry import recall_asked
from foldline._tokens.weigh import weigh
from foldline._wires import FORMATS, Tool

NAME = "recall"

DESCRIPTION = (
    "Look up earlier messages that are no longer in the context, word for word. Give the id that a stub, a notice or a "
    "summary names, or words to search for. What comes back is quoted history."
)

MOST = 6_000
"""Tokens that an answer may have; a longer message comes in pieces."""

SECONDS = 20.0
"""How long a call reads what is not indexed yet, before it answers from what is."""


class RecallArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a call."""

    query: Annotated[str, Meta(min_length=1, description="A message id, or words; quotes keep words together.")]
    session: Annotated[str, Meta(description="The id or path of another session to look in.")] = ""
    all: Annotated[bool, Meta(description="Look in every session on this machine.")] = False
    limit: Annotated[int, Meta(ge=1, le=50, description="The most hits; 8 if not given.")] = 8
    start: Annotated[int, Meta(ge=0, description="The character of a long message to start at.")] = 0


def parameters(*, sessions: bool = False) -> dict[str, Any]:
    """The JSON Schema of the arguments; with `sessions`, other sessions of this machine may be asked, too."""
    schema = msgspec.json.schema(RecallArguments)["$defs"]["RecallArguments"]
    others = () if sessions else ("session", "all")
    fields = {name: field for name, field in schema["properties"].items() if name not in others}
    properties = {
        name: {key: said for key, said in field.items() if key != "default"} for name, field in fields.items()
    }
    return {"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False}


def recall_tool(format: str = "openai-chat", *, sessions: bool = False) -> dict[str, Any]:
    """The tool as a request in the wire format `format` declares it; for Gemini, one of its `tools`."""
    declare = FORMATS[format].tool if format in FORMATS else None
    if declare is None:
        raise FormatError(f"no tools are declared in {format!r}; there are {', '.join(FORMATS)}", where=NAME)
    return declare(Tool(NAME, DESCRIPTION, parameters(sessions=sessions)))


def handle(arguments: str | Mapping[str, object], *, source: Recallable | None = None, most: int = MOST) -> str:
    """The answer to a call, for the model; never raises for what the model got wrong.

    `source` is the conversation that the call comes from, and the only one it can ask. Without one, the newest session
    of this directory is asked, and others by `session` and `all`.
    """
    try:
        asked = read_arguments(arguments)
        if source is not None and (asked.session or asked.all):
            raise FormatError("other sessions cannot be asked here; leave out session and all", where=NAME)
        with recall_asked():
            return answer(asked, source, most=most)
    except FoldlineError as error:
        return f"Nothing recalled: {error}"


def read_arguments(arguments: str | Mapping[str, object]) -> RecallArguments:
    """The arguments of a call, checked; raises `FormatError`. A null stands for what is not given."""
    try:
        data = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
        if isinstance(data, Mapping):
            data = {key: value for key, value in data.items() if value is not None}
        asked = msgspec.convert(data, RecallArguments, strict=False)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise FormatError(str(error), where=f"arguments of {NAME}") from error
    if asked.session and asked.all:
        raise FormatError("session and all exclude each other", where=f"arguments of {NAME}")
    return asked


def answer(asked: RecallArguments, source: Recallable | None = None, *, most: int = MOST) -> str:
    """The answer to a call whose arguments were read."""
    if source is None or is_session(source):
        where = scope_of(source) if source is not None else scope(asked.session, cwd=os.getcwd(), whole=asked.all)
        return _from_files(asked, where, most)
    id = id_in(asked.query)
    found = recalled(source, id) if id else None
    if found is not None:
        return _whole(found, asked.start, most)
    with index_of(source.messages()) as index:
        if id and len(begun := {hit.id for hit in index.begun(id, (), only=False)}) == 1:
            found = recalled(source, begun.pop())
            if found is not None:
                return _whole(found, asked.start, most)
        hits = index.search(asked.query, (), limit=asked.limit, only=False)
    return hits_answer(hits, most=most) if hits else _nothing(asked)


def _from_files(asked: RecallArguments, where: Scope, most: int) -> str:
    id = id_in(asked.query)
    with Index(seconds=SECONDS) as index:
        if id and (found := where.recalled(index, id)):
            message, session = found
            return _whole(message, asked.start, most, session=session.id, agent=session.agent)
        hits = where.search(index, asked.query, asked.limit)
        behind = f"\n{index.behind} sessions are not indexed yet; ask again for more." if index.behind else ""
    return (hits_answer(hits, most=most) if hits else _nothing(asked)) + behind


def _whole(found: Recalled, start: int, most: int, **about: str) -> str:
    """A message as quoted history, with the other halves of its calls and results."""
    size = f"{weigh(found.message):,} tokens"
    about = {"id": found.id, "role": found.message.speaker, "size": size, **about}
    return text_answer(found.text, start=start, most=most, **about)


def _nothing(asked: RecallArguments) -> str:
    return f"Nothing found for {asked.query[:200]!r}: no message has that id, and none holds these words."
