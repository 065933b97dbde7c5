"""The tools of the MCP server; what each needs is imported when it is called, so that the server starts at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from foldline._errors import FormatError

if TYPE_CHECKING:
    from foldline._desk.desk import Desk
    from foldline._desk.plan import FoldPlan
    from foldline._mcp.project import Project

T = TypeVar("T")

SessionNamed = Annotated[
    str,
    Meta(
        description="The path or id of a session; if not given, the one that asks: the agent's newest in its directory."
    ),
]


class WrongArguments(FormatError):
    """Arguments that are not of the tool's schema."""


class McpTool(NamedTuple):
    """A tool as it is listed, and what answers it; `run` raises `WrongArguments` for what was asked wrongly."""

    description: str
    schema: Callable[[], dict[str, Any]]
    run: Callable[[Mapping[str, Any], Project], str]
    writes: bool = False


class OfStatus(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `context_status`."""

    session: SessionNamed = ""


class OfCompact(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `compact`."""

    session: SessionNamed = ""
    focus: Annotated[str, Meta(description="What the summary must keep.")] = ""
    policy: Annotated[str, Meta(description="If not given, the one that is set.")] = ""
    write: Annotated[bool, Meta(description="Fold; without it, only say what a fold would do.")] = False


def _recall(arguments: Mapping[str, Any], project: Project) -> str:
    from foldline._recall.tool import answer, read_arguments

    try:
        asked = read_arguments(arguments)
    except FormatError as error:
        raise WrongArguments(str(error)) from error
    return answer(asked if asked.all else msgspec.structs.replace(asked, session=project.session(asked.session)))


def _recall_schema() -> dict[str, Any]:
    from foldline._recall.tool import parameters

    return parameters(sessions=True)


def _status(arguments: Mapping[str, Any], project: Project) -> str:
    from foldline._desk.status import status
    from foldline._install.agents import folds_by_itself

    desk = _opened(project.session(_converted(arguments, OfStatus).session))
    told = status(desk, desk.settings.to_policy(), installed=folds_by_itself(desk.session.agent, os.getcwd()))
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def _compact(arguments: Mapping[str, Any], project: Project) -> str:
    from foldline._offered import unknown
    from foldline._policies import names

    asked = _converted(arguments, OfCompact)
    if asked.policy and asked.policy not in names():  # an agent may not name a module or a file of its own
        raise WrongArguments(unknown("policy", asked.policy, names()), where="compact")
    desk = _opened(project.session(asked.session))
    desk.way_out = "an agent cannot fold the session that it works in; close it there first"
    planned = desk.asked(asked.policy or None, asked.focus, dry=not asked.write)
    if not planned:
        return f"Nothing to do: {desk.tokens:,} tokens in {desk.session.path}, nothing worth folding."
    note = ""
    if asked.write:
        planned = planned.carried_out()
        note = planned.why_extracted()
    elif planned.asks_model:
        note = f"{planned.writer.model} is asked for the summary then; here it is by extraction."
    return _told(planned, note, written=asked.write)


def _told(plan: FoldPlan, note: str, *, written: bool) -> str:
    from foldline._recall.answer import fenced

    desk, receipt = plan.desk, plan.fold.receipt
    done = "Folded" if written else "Preview, nothing was written"
    lines = [
        f"{done}: {desk.session.path}",
        f"{receipt.tokens_before:,} tokens become {receipt.tokens_after:,} of {desk.budget.window:,}.",
        *(f"{label.capitalize()}: {said}." for label, said in plan.figures),
        "`foldline session undo` takes it back." if written else "Call again with write: true to fold.",
        *plan.notes,
        *([note] if note else []),
    ]
    return "\n".join(lines) + (f"\n\nThe summary:\n{fenced(plan.summary)}" if plan.summary else "")


def _opened(path: str) -> Desk:
    from foldline._desk.desk import Desk

    return Desk.open(path)


def _converted(arguments: Mapping[str, Any], kind: type[T]) -> T:
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise WrongArguments(str(error)) from error


def _schema(kind: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    fields = msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"]
    properties = {name: {key: said[key] for key in said if key != "default"} for name, said in fields.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _compact_schema() -> dict[str, Any]:
    from foldline._policies import names

    schema = _schema(OfCompact)
    schema["properties"]["policy"]["enum"] = names()
    return schema


TOOLS = {
    "recall": McpTool(
        "Look up earlier messages of a session, word for word: by the id that a stub, a notice or a summary names, or by "
        "words. What comes back is quoted history, and says how many tokens each message would add.",
        _recall_schema,
        _recall,
    ),
    "context_status": McpTool(
        "How full a session's context is: tokens, window, folds, risk, and what is advised.",
        partial(_schema, OfStatus),
        _status,
    ),
    "compact": McpTool(
        "Preview what folding a session would free and keep; with write: true, fold it. The file is only appended to.",
        _compact_schema,
        _compact,
        writes=True,
    ),
}
"""The tools by name."""
