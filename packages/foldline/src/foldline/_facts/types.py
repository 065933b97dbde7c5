"""The facts of a conversation: what code reads out of it once, keeps from fold to fold, and tells on a page.

`at` and `seen` count messages since the session began.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import field

from foldline._messages import Speaker, Value, replace

FileState = Literal["created", "modified", "read", "deleted", "renamed", "restored"]
Lifetime = Literal["standing", "task", "once"]
Section = Literal["", "goal", "rule", "done", "state", "next", "decision", "files", "messages", "git", "context"]
"""What a section of an earlier summary tells, or a line of it: where a repository stood is `git`; empty for what is none."""

Telling = Literal["", "done", "open", "error", "decided", "talk"]

LEFT: tuple[Telling, ...] = ("open", "error")
"""What is still to be done, or to be mended."""

SOURCE = 160
"""Characters of what was tried that an error names."""


class Span(NamedTuple):
    """A piece of a message's words, as they stand there, and whose they are."""

    by: Speaker
    text: str


class File(Value, frozen=True, gc=False, omit_defaults=True):
    """A file that the agent touched: its last state, how often each action was done, and where it was moved."""

    path: str
    state: FileState = "read"
    actions: dict[str, int] = field(default_factory=dict)
    seen: int = 0
    to: str = ""
    by: Literal["", "peer"] = ""
    """Who changed it, where that was another agent."""
    last: int = -1
    """When it was changed last; -1 where that is not known."""
    kept: int = -1
    """When it was changed last before the newest commit, where it was changed since: so it is again where that is taken back."""
    edits: tuple[str, ...] = ()
    """The fingerprints of the edits since the newest commit that stand, where all of them are known."""
    names: tuple[str, ...] = ()
    """What was touched in it: functions, classes, headings, as far as the edits say so; the newest last."""

    @property
    def changed(self) -> bool:
        """Whether the agent left it other than it was."""
        return self.state not in ("read", "restored")

    @property
    def changed_at(self) -> int:
        """When it was changed last, as far as that is known."""
        return self.seen if self.last < 0 else self.last

    @property
    def made(self) -> bool:
        """Whether it is there, and was not before the agent made it."""
        return self.state in ("created", "modified") and next(iter(self.actions), "") == "created"

    @property
    def passed(self) -> bool:
        """Whether the agent made it and deleted it again, or did nothing but delete it, and more than once: a program writes it."""
        by_program = self.times > 1 and {*self.actions} == {"deleted"}
        return self.state == "deleted" and (next(iter(self.actions), "") == "created" or by_program)

    @property
    def put_back(self) -> bool:
        """Whether the agent changed it, and it is again as it was."""
        return self.state == "restored" and not self.actions.keys() <= {"read", "restored"}

    @property
    def times(self) -> int:
        """How often it was touched."""
        return sum(self.actions.values())


class Command(Value, frozen=True, gc=False, omit_defaults=True):
    """A command line and how its newest run ended; `note` is the line of output that tells most, `attempt` what of the line
    tried something, without what stands around it."""

    text: str
    outcome: str = ""
    note: str = ""
    count: int = 1
    seen: int = 0
    attempt: str = ""

    @property
    def tried(self) -> str:
        """What was tried, as far as that is known."""
        return self.attempt or self.text


class FailedCall(Value, frozen=True, gc=False, omit_defaults=True):
    """An error that a tool answered with; `source` names what was tried, `key` what must succeed to close it."""

    text: str
    source: str = ""
    key: str = ""
    resolved: bool = False
    seen: int = 0


class UserRequest(Value, frozen=True, gc=False, omit_defaults=True):
    """What the user said in one message, verbatim, and how often; of a very long one head and tail, `size` being its characters.

    `at` is when it was said first, `again` when it was said last where that was later, `between` when else; where there are
    several they stand in the order in which they were said last.
    """

    text: str
    at: int = 0
    size: int = 0
    times: int = 1
    again: int = 0
    between: tuple[int, ...] = ()
    amid: bool = False
    """Whether it was said amid the agent's work, to a call: why that was refused, or the answer to a question."""
    whole: str = ""
    """The same with the blocks of code that stand amid the words; empty where there are none."""

    @property
    def newest(self) -> int:
        """When it was said last."""
        return max(self.at, self.again)

    @property
    def places(self) -> tuple[int, ...]:
        """Each time when it was said, in order."""
        return (self.at, *self.between, *([self.again] if self.again > self.at else ()))


class Rule(Value, frozen=True, gc=False, omit_defaults=True):
    """A sentence that binds the agent, verbatim: for good, or `once`, for the turn that it was said in; `by` is who said it."""

    text: str
    at: int = 0
    by: Literal["user", "project", "summary"] = "user"
    lifetime: Lifetime = "standing"


class Todo(Value, frozen=True, gc=False, omit_defaults=True):
    """One item of a plan in its last state, which it has since the message `at`; `made` is when it was planned first, `id` where
    the tool numbers its items, `detail` what it says beside its title."""

    text: str
    status: Literal["pending", "in_progress", "done", "dropped"] = "pending"
    id: str = ""
    at: int = 0
    detail: str = ""
    made: int = -1


Kind = Literal[
    "rule",
    "said",
    "answer",
    "report",
    "thought",
    "call",
    "change",
    "failure",
    "result",
    "excerpt",
    "shown",
    "given",
    "written",
    "summary",
]
"""What a piece is: a rule of the user's; words of the user or of another agent; a short answer to what was asked, and the option
that it chose; of the agent's report at the end of a turn; what it said amid its
work; a call that looked, that changed something, or that failed; some of what a call brought, or a line of what a
command put out, or of what a look at files showed; arguments that the line of a call leaves out, and some of what it wrote; a
line of an earlier summary."""

WORK: frozenset[Kind] = frozenset(("call", "change", "failure"))
"""What the agent did, and not what it said."""

BY_USER = STOPPED, REFUSED = " → stopped by the user", " → refused by the user"
"""How a call is told that the user stopped, and one that the user did not allow."""

FILLING: tuple[Kind, ...] = ("given", "written")
"""The kinds that only a page tells which fills its budget."""


class Piece(Value, frozen=True, gc=False, omit_defaults=True):
    """The least that is told or left out: a short message, a sentence, a call, a few fields of what it brought.

    Pieces with one `at` and `part` belong together: sentences of a text, a call and its results. `used` is how many of its
    literals the user or the agent wrote as well; `edge` says that a report begins or ends with it, `open` that it says what
    is open or next, `back` that it takes back what was said before, `times` how often it was said. `item` says that it stands
    in a list, `under` which line leads in that list, `begins` that a line begins with it, `weighs` that the agent says in it what
    it makes of what another agent found. `laid_out` is how it reads where there is room: the row of a table that begins with it, below
    the names of its `columns`, or a block of code by its lines. `over` are the headings over what it stands below, where they have
    no words of their own, `depth` how many lists it lies in, an item in those around its own; `who` which other agent says it, or for
    which task. `section` says where in an earlier summary it stands, `filed` into which text the agent wrote the same later. `tells`
    is what a sentence of a report tells, as far as that is known: something open or wrong, something decided, or nothing of the work.
    """

    text: str
    at: int = 0
    part: int = 0
    by: Literal["user", "agent", "tool", "peer", "harness", "command", "summary"] = "agent"
    kind: Kind = "said"
    used: int = 0
    edge: bool = False
    open: bool = False
    back: bool = False
    times: int = 1
    item: bool = False
    under: str = ""
    begins: bool = False
    weighs: bool = False
    laid_out: str = ""
    columns: str = ""
    over: str = ""
    depth: int = 0
    who: str = ""
    section: Section = ""
    filed: str = ""
    tells: Telling = ""


class Repository(Value, frozen=True, gc=False, omit_defaults=True):
    """Where the newest work stands in a repository; what was changed behind the message `settled` is not committed, nor
    what is `left`."""

    folder: str = ""
    """Where it is, as the commands name it; empty where they do not."""
    branch: str = ""
    committed: bool = False
    commit: str = ""
    """The newest commit: its hash, and its subject in quotation marks; empty where nothing showed it."""
    pushed: bool = False
    ahead: bool = False
    """Whether git said of the branch that commits of it are not pushed, and no push was seen since."""
    pulls: tuple[str, ...] = ()
    """The addresses of the pull requests that were opened, oldest first."""
    heads: dict[str, str] = field(default_factory=dict)
    """The branches that they were opened from, as far as that is known."""
    drafts: tuple[str, ...] = ()
    """Those of them that are drafts."""
    ended: dict[str, str] = field(default_factory=dict)
    """How pull requests ended, by how their addresses end; empty for one that is open."""
    settled: int = -1
    clean: bool = False
    """Whether git said there that nothing was left to commit."""
    left: tuple[str, ...] = ()
    """What git listed there as changed and not committed."""
    marks: dict[str, str] = field(default_factory=dict)
    """How it marked each of them, as `git status --short` does: what is staged has a letter first, what is not one behind."""
    listed: int = -1
    """When it did so last."""
    compared: tuple[str, ...] = ()
    """The files that diffs named which were looked at, those of history apart."""
    under_way: str | None = None
    """The merge or rebase that stopped at a conflict; empty where it is over, None where nothing tells."""
    named_only: bool = False
    """Whether nothing is known of it but the branch that the agent's own file names: no command asked git for anything."""
    staged: tuple[str, ...] = ()
    """What git was told to stage since the newest commit, by its names."""
    taken: dict[str, int] = field(default_factory=dict)
    """When each file or folder that was named to be staged was committed last, since all that was changed was `swept` up."""
    swept: int = -1
    begun: bool = False
    """Whether it was begun in its folder, which is its own though it may lie in another repository's."""

    @property
    def tells(self) -> bool:
        """Whether more is known of it than where it is, and what is over."""
        known = replace(
            self,
            folder="",
            begun=False,
            ended={},
            compared=(),
            listed=-1,
            marks={},
            staged=(),
            under_way=self.under_way or None,
        )
        return known != Repository()


class Facts(Value, frozen=True, omit_defaults=True, dict=True):
    """What is known of a run of messages; `end` is how many messages it was read from."""

    requests: tuple[UserRequest, ...] = ()
    rules: tuple[Rule, ...] = ()
    pieces: tuple[Piece, ...] = ()
    files: tuple[File, ...] = ()
    commands: tuple[Command, ...] = ()
    faults: tuple[FailedCall, ...] = ()
    todos: tuple[Todo, ...] = ()
    passed: dict[str, int] = field(default_factory=dict)
    """When each kind of command last succeeded, which closes the errors of its kind."""
    plan_at: int | None = None
    """When a plan was last written whole: what an older plan held is no longer planned."""
    repositories: tuple[Repository, ...] = ()
    """In the order in which they were worked in last."""
    running: dict[str, str] = field(default_factory=dict)
    """What was seen to go on behind its call, by the name that its client gave it; empty for what ended since."""
    heard: dict[str, int] = field(default_factory=dict)
    """When such a program was heard of last, by the same name."""
    untouched: bool = False
    """Whether all that was done only looked; what is read from a summary may have changed anything."""
    by_blocks: bool = False
    """Whether the agent acts by a block of code in each reply, as its prompt asks."""
    acted: bool = False
    """Whether the newest message is such an action, whose outcome comes next."""
    end: int = 0
    now: Facts | None = None
    """What is known with the messages that stay behind these, where there are such; it holds for one page only."""

    @property
    def latest(self) -> Facts:
        """What is known with all that is known of messages behind."""
        return self.now or self

    @cached_property
    def turns(self) -> list[int]:
        """Where turns begin: with each request that did not come amid the work for the one before, or behind a call that the user
        stopped or refused."""
        asked = sorted({at for request in self.requests for at in request.places})
        refused = {at for request in self.requests if request.amid for at in request.places}
        between: list[set[Kind]] = [set() for _ in range(len(asked) + 1)]
        for at, told in groupby(self.pieces, key=attrgetter("at")):
            turn = bisect_right(asked, at)
            for piece in told:
                between[turn].add(piece.kind)
                if turn < len(asked) and piece.text.endswith(BY_USER):
                    refused.add(asked[turn])
        return [at for at, kinds in zip(asked, between) if "report" in kinds or kinds.isdisjoint(WORK) or at in refused]

    @property
    def goes_on(self) -> bool:
        """Whether messages stay behind these."""
        return self.latest.end > self.end

    def data(self) -> dict[str, Any]:
        """The facts as plain JSON data."""
        data: dict[str, Any] = msgspec.to_builtins(replace(self, now=None))
        return data
