"""The files by what was done to them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.calls import COMMIT
from foldline._facts.edits import GONE, PROSE, later_names
from foldline._facts.folders import (
    AGAIN,
    BELOW,
    EARLIER,
    MADE_EARLIER,
    TRIED,
    folders_of,
    grouped,
    home_of,
    is_absolute,
    seen_from,
    with_slashes,
    without_names,
)
from foldline._facts.repository import passes
from foldline._facts.standing import base_of, changed_files, is_passing, kept_nowhere
from foldline._facts.trails import STAGED, is_committed
from foldline._facts.types import Facts, File, Piece, UserRequest
from foldline._messages import replace
from foldline._page.quoting import size
from foldline._page.tries import tries
from foldline._tokens.estimate import estimate

_NAMES = re.compile(r"(\S+) \(([^()]*)\)")
"""A file with the names in it."""

_WRITE = re.compile(r"(?i)write(?:_to)?(?:_file)? ")

_AGENTS = re.compile(r"(?:~|/root|/home/[^/]+|(?:[A-Za-z]:)?/Users/[^/]+)/\.(?!\w+/worktrees/)[\w-]+/")
"""A hidden folder of a user's, where agents keep skills and programs what they downloaded; worktrees are work."""

_BORROWED = re.compile(r"/(?:pkg/mod|node_modules|site-packages|dist-packages)/")
"""A folder in which others' code is that the work only uses."""


OF_FOLDER = 8
"""Files that are told of those made in one folder where no budget is to be filled: more are mostly tries."""

NAMED, _NAMES_OF_ONE, _NAME = 10, 4, 60
"""The files that are told with what was touched in them where no budget is to be filled, those changed most, the names that are
told of one, and the characters of each."""

_ROOMY = 250
"""Tokens of the files from which it is told what was touched in them: on a smaller page reports say more."""

COMPARED, COMMITTED = "in diffs that were read", "committed"

_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|pdf)$", re.IGNORECASE)
"""A file whose sight no words keep."""

_NAME_SAID = re.compile(r"[\w@+-]+(?:\.[\w@+-]+)*", re.ASCII)

_READ, _COMPARED, _TRIED = 6, 12, 6
"""The files that are told there of those only read, of those of diffs, and of the agent's own tries."""

_ALL_READ = 20
"""The files that are told of those read where none was changed: what was found is about them."""


class _Known(NamedTuple):
    """The files that a page may list, as they are called from the folder `root` on."""

    root: str
    changed: list[File]
    put_back: list[File]
    compared: list[File]
    read: list[File]
    tries: set[str]
    below: set[str]
    """What was changed in the messages behind only."""
    again: set[str]
    """What was changed there as well."""


def files(facts: Facts, room: int, *, spare: int = 0) -> list[str]:
    """The files by what was done to them: those that were changed, then in a third of the room those only read.

    What is `spare` of a page goes to the latter.
    """
    known, asked = _known(facts), _asked(facts)
    lines = [f"in {known.root}"] if known.root else []
    for told, some in (*_by_verb(known.changed), ("put back", known.put_back)):
        lines += _listed(told, some, by_change(some, asked), room - size(lines))
    lines += _listed(COMPARED, known.compared, by_change(known.compared, asked), min(room - size(lines), room // 3))
    room = min(room - size(lines), room // 3) + spare
    return lines + _listed("read", known.read, by_change(known.read, asked), room)


def few_files(facts: Facts, room: int) -> list[str]:
    """The files that a page needs which is read: those changed for the newest request or not committed, and those of work that was
    committed before it, each in a line with what was touched in it where they are few, else those of the former that were changed
    most; of those that were only looked at the ones that the user or the agent speaks of, of an agent that says nothing the last, and where
    nothing was changed all."""
    known, asked = _known(facts), _asked(facts)
    over = _committed_before(facts)
    there = (f for f in known.changed if f.state in ("created", "modified"))
    earlier = [f for f in there if f.path not in known.below and any(commit >= f.changed_at for commit in over)]
    earlier = earlier if len(earlier) < len(known.changed) else []
    tried = [f for f in known.changed if f.path in known.tries]
    work = [f for f in known.changed if f.path not in known.tries]
    now = [f for f in work if f not in earlier]
    most = by_change(work if len(work) <= NAMED else now, asked)[:NAMED]
    named = {f.path: told for f in most if room >= _ROOMY and (told := _with_names(f))}
    lines = [f"in {known.root}"] if known.root else []
    here, below = ([f for f in now if (f.path in known.below) == later] for later in (False, True))
    done = (*_by_verb(here), *((f"{verb}{BELOW}", some) for verb, some in _by_verb(below)))
    made = [f for f in earlier if f.made]
    done += (MADE_EARLIER, made), (EARLIER, [f for f in earlier if f not in made])
    for verb, some in (*done, ("put back", known.put_back)):
        apart = {f.path: f"{verb}: {named[f.path]}" for f in some if f.path in named}
        fits = apart if size([*lines, *apart.values()]) <= room else {}
        lines += fits.values()
        rest = [f for f in some if f.path not in fits]
        ranked = by_change(rest, asked)
        ranked = [*_few(ranked, OF_FOLDER)] if verb.startswith("created") else ranked
        lines += _listed(verb, rest, ranked, room - size(lines))
    again = [f for f in (*here, *earlier) if f.path in known.again and f.state in ("created", "modified")]
    lines += _listed(AGAIN, again, by_change(again, asked), (room - size(lines)) // 2)
    spoken = _spoken_of(facts, asked)
    compared = [f for f in known.compared if not known.changed or spoken[_name(f)]]
    lines += _listed(COMPARED, compared, _most_spoken(compared, spoken)[:_COMPARED], min(room - size(lines), room // 3))
    silent = not any(piece.by == "agent" for piece in facts.latest.pieces)
    only = not (known.changed or known.put_back)
    read = [f for f in known.read if only or silent or spoken[_name(f)] or _PICTURE.search(f.path)]
    left = room - size(lines)
    lines += _listed(
        "read",
        known.read if len(read) > _READ else read,
        _most_spoken(read, spoken)[: _ALL_READ if only else _READ],
        left if only else left // 2,
    )
    newest = sorted(tried, key=lambda file: file.seen, reverse=True)[:_TRIED]
    return lines + _listed(TRIED, tried, newest, room - size(lines))


def _known(facts: Facts) -> _Known:
    known = {file.path for file in facts.files}
    some = [file for file in facts.latest.files if file.path in known]
    located = home_of(file.path for file in some if not _is_copy(file))
    before = {f.path: f for f in facts.files if f.changed and f.changed_at < facts.end}
    behind = [f for f in some if f.changed_at >= facts.end and {*f.actions} != {STAGED}]
    since = [f for f in behind if f.path not in before or (f.state in _GONE and before[f.path].state != f.state)]
    again = [f for f in behind if f not in since]
    later = [_from(located, f).path for f in since]
    both = [_from(located, f).path for f in again]
    some = [_as_it_was(f, before[f.path]) if f in again else f for f in some]
    facts = replace(facts, files=tuple(_from(located, _put_in(file, facts)) for file in some))
    root, home = base_of(facts) or located, located or _home(facts)
    if home and root.startswith(home):
        within = all(file.path.startswith(root) for file in changed_files(facts))
        root = root if located and within else home
    changed, read = (
        _once([replace(f, path=_shown(f.path, root, home), to=_shown(f.to, root, home)) for f in some], facts.end)
        for some in (changed_files(facts) or kept_nowhere(facts), _read(facts, root or home))
    )
    put_back = [replace(f, path=_shown(f.path, root, home)) for f in facts.files if f.put_back]
    compared = [replace(f, path=_shown(f.path, root, home)) for f in _compared(facts, located or _home(facts))]
    told_above = {f.path for f in (*changed, *put_back, *compared)}
    read = sorted((f for f in read if f.path not in told_above), key=lambda f: f.seen)
    tried, below, both_times = ({_shown(path, root, home) for path in paths} for paths in (tries(facts), later, both))
    return _Known(root, changed, put_back, compared, read, tried, below, both_times)


def _as_it_was(file: File, before: File) -> File:
    """A file that the messages below change again, with what was touched in it before them, and when."""
    return replace(file, names=before.names, last=before.changed_at)


def _is_copy(file: File) -> bool:
    """Whether a file was only put into a folder that nobody keeps: what lies there says nothing of where the work is."""
    return is_passing(file.path) and {*file.actions} == {"created"}


def _put_in(file: File, facts: Facts) -> File:
    """A file of which nothing is known but that it was put into a commit, as committed once that was made."""
    there = file.changed and _only_put_in(file) and is_committed(file, facts.latest.end, facts.latest.repositories)
    return replace(file, actions={COMMITTED: 1}) if there else file


def _only_put_in(file: File) -> bool:
    """Whether all that is known of a file is that it was staged or committed."""
    return {*file.actions} <= {"read", STAGED, COMMITTED}


_GONE = ("deleted", "renamed")
"""What is done to a file that is not where it was any more."""


def _asked(facts: Facts) -> str:
    return "\n".join(request.text for request in facts.latest.requests)


def _by_verb(changed: Sequence[File]) -> Iterator[tuple[str, list[File]]]:
    """Changed files by what was done to them and by whom, as that is told."""
    for by in ("", "peer"):
        for verb in ("created", "modified", COMMITTED, STAGED, "renamed", "deleted"):
            told = (verb if verb != "modified" else "changed") + (" by another agent" if by else "")
            some = [f for f in changed if _verb(f) == verb and f.by == by]
            yield told, _outermost(some) if verb == "deleted" else some


def _outermost(deleted: Sequence[File]) -> list[File]:
    """Files and folders that were deleted, but for what lay in one of these."""
    gone = {f"{file.path.rstrip('/')}/" for file in deleted}
    return [file for file in deleted if not any(each in gone for each in folders_of(file.path.rstrip("/")))]


def _verb(file: File) -> str:
    """What is told of a file: of one that was only put into a commit no more than that; one that was there before it was made anew
    was changed."""
    if {*file.actions} <= {"read", STAGED}:
        return STAGED
    if {*file.actions} == {COMMITTED}:
        return COMMITTED
    anew = file.state == "created" and next(iter(file.actions), "") in ("modified", "deleted")
    return "created" if file.made else "modified" if anew else file.state


def _committed_before(facts: Facts) -> list[int]:
    """When commits were made before the newest request."""
    asked = max(facts.latest.requests, key=lambda request: request.newest, default=UserRequest("")).at
    return [p.at for p in facts.latest.pieces if p.by == "tool" and p.at < asked and p.text.startswith(COMMIT)]


def _spoken_of(facts: Facts, asked: str) -> Counter[str]:
    """How often the user and the agent say each word that may be a file's name."""
    said = (piece.text for piece in facts.latest.pieces if piece.by == "agent")
    return Counter(word for text in (asked, *said) for word in _NAME_SAID.findall(text))


def _most_spoken(some: Iterable[File], spoken: Counter[str]) -> list[File]:
    """Files by how often they are spoken of, those that were looked at last before others."""
    return sorted(some, key=lambda file: (spoken[_name(file)], file.seen), reverse=True)


def _name(file: File) -> str:
    return file.path.rpartition("/")[2]


def _from(home: str, file: File) -> File:
    """A file by its whole path, where it is named from a folder that is known."""
    path, to = (each if not each or is_absolute(each) else f"{home}{each}" for each in (file.path, file.to))
    return replace(file, path=path, to=to) if home else file


def _once(some: Iterable[File], end: int) -> list[File]:
    """Files of which each path is told once, as it is last: of one that calls named in two ways both are known, and one that was made
    and changed under another name was made; what was touched in it from the message `end` on stands below."""
    told: dict[str, File] = {}
    for file in some:
        known = told.get(file.path)
        if known and _only_put_in(file):
            file = known
        elif known and file.state == "modified" and not _only_put_in(known):
            below = known.changed_at < end <= file.changed_at
            file = replace(known, names=known.names if below else later_names(known.names, file.names))
        told[file.path] = file
    return [*told.values()]


def _read(facts: Facts, home: str) -> list[File]:
    """The files that were only read, without what lies elsewhere in hidden folders, in those for passing use and in others' code
    where others are known."""
    folders = {f.path[:i] for f in facts.files for i, letter in enumerate(f.path) if letter == "/"}
    read = [f for f in facts.files if f.state == "read" and f.path not in folders]
    own = [f for f in read if not _BORROWED.search(f.path)]
    work = [f for f in own if (home and f.path.startswith(home)) or not (_AGENTS.match(f.path) or passes(f.path))]
    return work if work or len(read) < len(facts.files) else read


def _compared(facts: Facts, home: str) -> Iterator[File]:
    """The files that diffs named, but for those that the agent changed or that stand in the state as not committed."""
    left = {path for each in facts.latest.repositories for path in each.left}
    known: dict[str, list[File]] = {}
    for file in (*facts.files, *facts.latest.files):
        known.setdefault(file.path.rpartition("/")[2], []).append(file)
    for each in facts.repositories:
        for path in each.compared:
            named = known.get(path.rpartition("/")[2], ())
            alike = [f for f in named if f"/{f.path}".endswith(f"/{path}")]
            if path not in left and not any(f.changed or f.put_back for f in alike):
                yield alike[0] if alike else File(path if is_absolute(path) else f"{home}{path}")


def _home(facts: Facts) -> str:
    """The folder of the repository that paths from the working folder are taken to start in; empty where there are none."""
    folders = [r.folder for r in facts.repositories if r.folder.startswith("/") and not passes(r.folder)]
    from_there = any(not is_absolute(file.path) for file in facts.files)
    return f"{folders[-1]}/" if folders and from_there else ""


def _shown(path: str, root: str, home: str) -> str:
    if root == home and not is_absolute(path):
        return path
    return seen_from(root, path) if root else path.removeprefix(home)


def named_in(asked: str, file: File) -> bool:
    """Whether what was asked names a file."""
    return _name(file) in asked


def by_change(some: Iterable[File], asked: str = "") -> list[File]:
    """Files by whether what was `asked` names them, then by how often they were changed, then by how lately."""

    def rank(file: File) -> tuple[bool, int, int]:
        return named_in(asked, file), file.times - file.actions.get("read", 0), file.seen

    return sorted(some, key=rank, reverse=True)


def _listed(verb: str, some: Sequence[File], ranked: Sequence[File], room: int) -> list[str]:
    """Files of a state by folder, in the order of time; where not all have room, the first of those that are `ranked`."""

    def line(count: int) -> str:
        most = {f.path for f in ranked[:count]}
        told = grouped(f"{f.path} → {f.to}" if f.to else f.path for f in some if f.path in most)
        left = len(some) - count
        return f"{verb}: {told}" + (f" … and {left} more" if left else "")

    counts = range(len(ranked), 0, -1)
    fits = bisect_left(counts, True, key=lambda count: estimate(line(count)) <= room)
    return [line(counts[fits])] if fits < len(counts) else []


def _with_names(file: File) -> str:
    """A file, and where it went, with what was touched in it; empty of a new one and of a text, which their own names tell, and where
    nothing is known."""
    some = () if file.made or file.path.endswith(PROSE) else sorted(file.names[-_NAMES_OF_ONE:], key=_is_gone)
    own = file.path.rpartition("/")[2].partition(".")[0]
    names = dict.fromkeys(told for name in some if not (told := _in_short(name)).startswith(own))
    moved = f"{file.path} → {file.to}" if file.to else file.path
    return f"{moved} ({', '.join(filter(None, names))})" if any(names) else ""


def _in_short(name: str) -> str:
    """A name that was touched, without what it is called with, and of a long one without what it is based on."""
    name = name.partition("(")[0].strip()
    return cut(name if len(name) <= _NAME else name.partition(" extends ")[0], _NAME)


def _few(ranked: Sequence[File], of_folder: int) -> Iterator[File]:
    """The first files of each folder."""
    told: Counter[str] = Counter()
    for file in ranked:
        folder = file.path.rpartition("/")[0]
        if told[folder] < of_folder:
            yield file
        told[folder] += 1


def trail(file: File) -> str:
    """A file with its state and what led to it."""
    moved = f" → {file.to}" if file.to else ""
    before = [
        f"{verb}{f' {n}×' if n > 1 else ''}" for verb, n in file.actions.items() if verb not in ("read", file.state)
    ]
    times = file.actions.get(file.state, 1)
    again = f" {times}×" if times > 1 else ""
    return f"{file.state}{again}: {file.path}{moved}" + (f" (was {', '.join(before)})" if before else "")


def named_once(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, with the names in written files that no newer one has as well: of tries, and of older versions, the path says
    all."""
    told: set[str] = set()
    paths: set[str] = set()

    def shown(file: re.Match[str]) -> str:
        path, names = file.groups()
        new = {*names.split(", ")} - told - {"…"} if path not in paths else ()
        told.update(new)
        paths.add(path)
        return file[0] if new else path

    found = [
        replace(piece, text=_NAMES.sub(shown, piece.text)) if _writes(piece) else piece for piece in reversed(pieces)
    ]
    return found[::-1]


def _writes(piece: Piece) -> bool:
    """Whether a piece tells that files were written, and no more."""
    return piece.kind == "change" and _WRITE.match(piece.text) is not None and " → " not in piece.text


def by_file(done: Iterable[str]) -> list[str]:
    """Edits of the same file as one, with all names that they touched; those of several files at once as they are."""
    found: dict[str, dict[str, None]] = {}
    for each in done:
        head, mark, names = each.removesuffix(")").partition(" (")
        if not mark or not each.endswith(")") or ")" in names:
            head, names = each, ""
        found[head] = found.pop(head, {}) | dict.fromkeys(filter(None, names.split(", ")))
    return [f"{head} ({', '.join(names)})" if names else head for head, names in found.items()]


def _is_gone(name: str) -> bool:
    return name.startswith(GONE)


def in_folders(done: Iterable[str]) -> list[str]:
    """Edits by what was done, with each folder of the files named once; commands as they are."""
    found: dict[str, dict[str, None]] = {}
    for each in done:
        verb, _, listed = each.partition(" ")
        if each.startswith("`"):
            found[each] = {}
        else:
            found.setdefault(verb, {}).update(dict.fromkeys(map(with_slashes, without_names(listed).split(", "))))
    return [f"{verb} {grouped(paths)}" if paths else verb for verb, paths in found.items()]
