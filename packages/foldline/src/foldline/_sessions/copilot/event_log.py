"""What the events of a session lead to: the context as Copilot builds it again when it loads its own log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foldline._messages import Message, Thinking, ToolCall, Usage, replace
from foldline._sessions.copilot import messages as said
from foldline._sessions.copilot.quoted import Asked, quoted
from foldline._sessions.parts import from_wire, summary, usage_at
from foldline._sessions.reading import PastFold, summarized
from foldline._sessions.values import Json, count, mapping, mappings, string

Entry = tuple[str, Message]

_TRIGGERS = {"context_limit_retry": "overflow"}
"""Why Copilot compacted, in our words where its own are others."""


class EventLog:
    """The state that the events lead to, in their order; those of sub-agents, and what was shown alone, change nothing."""

    def __init__(self) -> None:
        self.id = self.cwd = self.branch = self.model = ""
        self.window = 0
        self.entries: list[Entry] = []
        self.gone: list[Entry] = []
        self.folds: list[PastFold] = []
        self.since = 0
        self.prompt: int | None = None
        """Tokens of the system prompt, as the log last told them; None where it never did."""
        self.tools = 0
        self._asked: list[Asked] = []
        self._assets: dict[str, Json] = {}
        self._calls: set[str] = set()
        self._answered: set[str] = set()
        self._commands: dict[str, str] = {}
        """What the user ran in the client, by the ids of these calls."""
        self._reply = ""
        """The provider's id of the newest reply."""
        self._bills: dict[str, Usage] = {}
        """What replies were billed, by these ids."""
        self._compacting: int | None = None
        """How many entries stood when a compaction began that has not ended."""

    def take(self, id: str, event: Json) -> bool:
        """Takes the event in one row; False where the row is none."""
        kind, data = event.get("type"), mapping(event.get("data"))
        if not isinstance(kind, str):
            return False
        if event.get("agentId") or data.get("parentToolCallId"):
            return True
        if event.get("ephemeral") is not True:
            self._note(kind, data)
            if take := _TAKES.get(kind):
                take(self, id, data | {"timestamp": event.get("timestamp")})
        elif kind == "assistant.usage":
            self._billed(id, {"usage": data})
        return True

    # -- what the session is --------------------------------------------------------------------------------------

    def _note(self, kind: str, data: Json) -> None:
        if kind.startswith("session."):
            where = data if kind == "session.context_changed" else mapping(data.get("context"))
            self.id = string(data.get("sessionId"), self.id) if kind == "session.start" else self.id
            self.cwd, self.branch = string(where.get("cwd"), self.cwd), string(where.get("branch"), self.branch)
            self.window = count(data.get("tokenLimit")) or self.window
            self._note_prompt(data)
        for name in (data.get("newModel"), data.get("selectedModel"), data.get("model")):
            if isinstance(name, str) and name not in ("", "auto"):
                self.model = name

    def _note_prompt(self, data: Json) -> None:
        if "toolDefinitionsTokens" in data:
            self.prompt, self.tools = count(data.get("systemTokens")), count(data.get("toolDefinitionsTokens"))

    def _billed(self, id: str, data: Json) -> None:
        """What a reply was billed, which newer logs have before the reply and what is printed has behind it."""
        bill = mapping(data.get("usage"))
        self.window = count(bill.get("maxPromptTokens")) or self.window
        billed = usage_at(bill, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        if billed and (call := string(bill.get("apiCallId"))):
            self._bills[call] = billed
            if call == self._reply and self.entries and self.entries[-1][1].role == "assistant":
                self._replace_last(lambda reply: replace(reply, usage=billed))

    def _replace_last(self, change: Callable[[Message], Message]) -> None:
        id, message = self.entries[-1]
        self.entries[-1] = id, change(message)

    # -- what was said --------------------------------------------------------------------------------------------

    def _add(self, id: str, message: Message | None) -> None:
        if message is not None:
            self.entries.append((id, message))

    def _user(self, id: str, data: Json) -> None:
        self._add(id, said.of_user(data, self._assets))
        if words := said.own_words(data):
            self._asked.append((id, words))

    def _host(self, id: str, data: Json) -> None:
        self._add(id, said.of_host(data))

    def _system(self, id: str, data: Json) -> None:
        """The prompt, which is sent anew with each request and stands once, at the beginning."""
        if prompt := from_wire({"role": "system", "content": data.get("content")}, "openai-chat"):
            self.entries = [(id, prompt), *(entry for entry in self.entries if entry[1].role != "system")]

    def _agent(self, id: str, data: Json) -> None:
        """A reply; one of several parts of the same answer is joined to the part before it."""
        reply, call = said.of_agent(data), string(data.get("apiCallId"))
        if reply is None:
            return
        self._calls |= {each.id for each in reply.calls}
        if call and call == self._reply and self.entries and self.entries[-1][1].role == "assistant":
            self._replace_last(lambda before: replace(before, parts=(*before.parts, *reply.parts)))
        else:
            self.entries.append((id, replace(reply, usage=self._bills.get(call))))
        self._reply = call

    def _started(self, id: str, data: Json) -> None:
        """A call that runs; it is the only trace of one where its reply cannot be read."""
        call = said.called(string(data.get("toolCallId")), string(data.get("toolName")), data.get("arguments"))
        if call is None or call.id in self._calls or call.id in self._commands:
            return
        self._calls.add(call.id)
        if self.entries and self.entries[-1][1].role == "assistant":
            self._replace_last(lambda reply: replace(reply, parts=(*reply.parts, call)))
        else:
            self.entries.append((id, Message("assistant", (call,))))

    def _run_by_user(self, id: str, data: Json) -> None:
        self._commands[string(data.get("toolCallId"))] = string(mapping(data.get("arguments")).get("command"))

    def _completed(self, id: str, data: Json) -> None:
        call = string(data.get("toolCallId"))
        if data.get("isUserRequested") is True:
            self._add(id, said.of_users_shell(data, self._commands.get(call, "<unknown>")))
        elif call and call not in self._answered:
            self._answered.add(call)
            self._add(id, said.of_tool(data, self._assets))

    def _asset(self, id: str, data: Json) -> None:
        self._assets[string(data.get("assetId"))] = data

    # -- what was taken back --------------------------------------------------------------------------------------

    def _stopped(self, id: str, data: Json) -> None:
        """The agent was stopped, or loaded its log again: open calls are answered, and reasoning is not sent any more."""
        if data.get("sessionWasActive") is True:
            return
        if data.get("continuePendingWork") is not True:
            for number, call in enumerate(self._open(), 1):
                self._answered.add(call.id)
                self.entries.append((f"{id}:{number}", said.interrupted(call)))
        self._forget_reasoning()

    def _open(self) -> list[ToolCall]:
        return [call for _, message in self.entries for call in message.calls if call.id not in self._answered]

    def _changed_model(self, id: str, data: Json) -> None:
        self._forget_reasoning()

    def _forget_reasoning(self) -> None:
        self.entries = [(id, plain) for id, message in self.entries if (plain := _without_reasoning(message)).parts]
        self._reply = ""

    def _imported(self, id: str, data: Json) -> None:
        """The messages of a session from before there were events."""
        told = mappings(mapping(data.get("legacySession")).get("chatMessages"))
        made = (from_wire(item, "openai-chat") for item in told)
        self.entries = [(f"{id}:{number}", message) for number, message in enumerate(made, 1) if message]
        self._asked = [(name, message.text) for name, message in self.entries if message.role == "user"]

    def _cleared(self, id: str, data: Json) -> None:
        self._fold_away(len(self.entries), ())
        self._asked = []

    # -- what was compacted ---------------------------------------------------------------------------------------

    def _begun(self, id: str, data: Json) -> None:
        self._compacting = len(self.entries)

    def _compacted(self, id: str, data: Json) -> None:
        """The summary stands for what there was when the compaction began; the work went on meanwhile."""
        text = string(data.get("summaryContent"))
        begun, self._compacting = self._compacting, None
        if data.get("success") is not True or not text:
            return
        at = _before_open_calls(self.entries, len(self.entries) if begun is None else begun)
        told = {name for name, _ in self.entries[at:]}
        round = len(self.folds) + 1
        self._fold_away(
            at, (*quoted([each for each in self._asked if each[0] not in told]), (id, summary(text, round)))
        )
        self.folds.append(_fold(id, data, text, round))

    def _fold_away(self, at: int, instead: Sequence[Entry]) -> None:
        """Puts other entries in the place of those before one, but for the prompt; ids of calls that are gone may be given again."""
        prompt = [entry for entry in self.entries[:at] if entry[1].role == "system"]
        self.gone += (entry for entry in self.entries[:at] if entry[1].role != "system")
        self.entries = [*prompt, *instead, *self.entries[at:]]
        self.since = len(self.entries)
        self._calls = {call.id for _, message in self.entries for call in message.calls}
        self._answered = {result.call_id for _, message in self.entries for result in message.results}


_TAKES: dict[str, Callable[[EventLog, str, Json], None]] = {
    "user.message": EventLog._user,
    "assistant.message": EventLog._agent,
    "tool.execution_start": EventLog._started,
    "tool.execution_complete": EventLog._completed,
    "tool.user_requested": EventLog._run_by_user,
    "system.message": EventLog._system,
    "system.notification": EventLog._host,
    "session.binary_asset": EventLog._asset,
    "session.usage_record": EventLog._billed,
    "session.model_change": EventLog._changed_model,
    "session.import_legacy": EventLog._imported,
    "session.context_cleared": EventLog._cleared,
    "session.compaction_start": EventLog._begun,
    "session.compaction_complete": EventLog._compacted,
    "session.resume": EventLog._stopped,
    "abort": EventLog._stopped,
}
"""What takes an event, by its type; any other is told to the user, or to nobody."""


def _without_reasoning(message: Message) -> Message:
    if not any(type(part) is Thinking for part in message.parts):
        return message
    return replace(message, parts=tuple(part for part in message.parts if type(part) is not Thinking))


def _before_open_calls(entries: Sequence[Entry], at: int) -> int:
    """The place to part the entries at: before the reply whose calls are answered behind it."""
    if at >= len(entries) or entries[at][1].role != "tool":
        return at
    calls = (i for i in range(at - 1, -1, -1) if any(entries[i][1].calls))
    return next(calls, at)


def _fold(id: str, data: Json, text: str, round: int) -> PastFold:
    reason = string(data.get("trigger"), "manual" if data.get("customInstructions") else "")
    parts = ("systemTokens", "conversationTokens", "toolDefinitionsTokens")
    after = sum(count(data.get(part)) for part in parts) or count(data.get("postCompactionTokens"))
    before, when = count(data.get("preCompactionTokens")), string(data.get("timestamp"))
    return summarized(id, when, before, round, text, trigger=_TRIGGERS.get(reason, reason), after=after)
