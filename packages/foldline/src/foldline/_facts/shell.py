"""What a shell command does to files, read from its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from posixpath import basename, join, normpath
from typing import NamedTuple

from foldline._facts import powershell
from foldline._facts.folders import is_absolute
from foldline._facts.patches import patch_actions
from foldline._facts.patterns import rare
from foldline._facts.powershell import as_program, in_posix
from foldline._patterns import pattern

Touch = tuple[str, str, str]
"""An action, a path, and for a rename the new path; `written` is created or modified, as the facts before it tell."""

_LIMIT = 20_000
_HEREDOC = rare(r"<<-?\s*(['\"]?)(\w+)\1")
_TOKEN = re.compile(
    r"#[^\n]*|\\\n|(?P<word>(?:[^\s\"'\\;|&<>()]++|\\.|\"(?:\\.|[^\"\\])*\"|'[^']*')+)|(?P<arrow>>>?|<)|(?P<op>&&|\|\||\|&?\s*|[;&\n()])"
)
_SAVERS = r"\.(?:to_(?:csv|excel|json|parquet|html|markdown|latex|pickle)|savefig|savetxt|savez?(?:_compressed)?)\(\s*"
"""How the libraries that programs keep tables, arrays and pictures with save them."""
_WRITES_IN_CODE = rare(
    r"""open(?<=\bopen)\(\s*[rbfu]?["']([^"'\n]{1,200})["']\s*,\s*(?:mode=)?["'][wax]|Path(?<=\bPath)\(\s*["']([^"'\n]{1,200})["']\s*\)\.write_"""
    r"""|writeFile(?<=\bwriteFile)(?:Sync)?\(\s*["'`]([^"'`\n]{1,200})["'`]"""
    rf"""|{_SAVERS}["']([^"'\n]{{1,200}})["']"""
)
_WRITES_BY_NAME = rare(
    r"open(?<=\bopen)\(\s*(\w{1,60})\s*,\s*(?:mode=)?[\"'][wax]|writeFile(?<=\bwriteFile)(?:Sync)?\(\s*(\w{1,60})\s*,"
    rf"|{_SAVERS}(\w{{1,60}})\s*[,)]"
)
_WRITES_ITSELF = rare(r"\b(\w{1,60})\.write_(?:text|bytes)\(")
_NAMES_IN_CODE = re.compile(r"""\b(\w{1,60})\s*=\s*(?:(?:pathlib\.)?Path\(\s*)?["'`]([^"'`\n]{1,200})["'`]""")
"""How code writes a file that a variable names, and how it names one."""

MADE_FOR_NOW = "/tmp/passing"
"""What stands for a folder that a command made for a while, under a name that nobody knows."""

_SHELL = re.compile(
    r"\s*(?:nohup\s+)?(?:\S*[/\\])?(?:powershell|pwsh|bash|zsh|sh)(?:\.exe)?(?:\s+-(?:ExecutionPolicy\s+)?\w+)*?\s+-(?:Command|l?c)\s+"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)')(?P<behind>[^\"']*)",
    re.IGNORECASE | re.DOTALL,
)
"""A command that is handed to another shell."""

_ARROWS = {">": "written", ">>": "modified"}
_AROUND = frozenset(
    {"", "cd", "echo", "true", "exit", "export", "set", "source", "sleep", "printf", "for", "done", "fi"}
)
"""Programs and words of the shell that are no attempt at anything, but stand around one."""

_FAMILY, _FAMILY_WORDS = 4_000, 5
"""Characters of a command that are read for its family, and the most words that this has."""

_READERS = frozenset({"cat", "head", "tail", "less", "more", "nl", "bat", "batcat", "tac", "view"})
_WRAPPERS = frozenset({"sudo", "time", "env", "nohup", "command", "exec", "timeout", "xargs", "rtk"})
_KEYWORDS = frozenset({"if", "then", "else", "while", "until", "do", "!", "{", "}"})
"""Words of the shell behind which a command stands."""
_SETS = re.compile(r"\w+=")
_NOT_A_PATH = re.compile(r"(?i:^nul$)|^/[a-zA-Z]$|[$*?`{}\n]|://|^[-+]|^\d+[a-z]?$|^/dev/|^&|^%")


_SAVES = pattern(
    r"\bcat\s*>{1,2}\s*[\"']?(?P<file>[^\s\"'<>|;&]+)[\"']?\s*<<-?\s*[\"']?(?P<end>\w+)[\"']?\n(?P<code>.*?)^\s*(?P=end)\s*$",
    re.DOTALL | re.MULTILINE,
)
"""Code that a command saves in a file."""


def touches(command: str) -> Iterator[Touch]:
    """The files that a command line creates, changes, reads, deletes or renames."""
    command = handed_on(command[:_LIMIT])
    bare, bodies = _without_heredocs(in_posix(command))
    code = _without_saved(command)
    for body in bodies:
        if "*** " in body:
            yield from patch_actions(body)
            code = code.replace(body, "")
    by_code = [path for path in _written_by_code(code) if not _NOT_A_PATH.search(path)]
    where = ""
    for step in steps_of(_spelled_out(bare)):
        name, args = step.program
        if by_code and not (name in ("git", "cd") and "<<" in bare):
            yield from (("written", path, "") for path in by_code)
            by_code = []
        where = _entered(where, args) if name == "cd" else where
        for action, path, to in _segment(name, args, step.outputs):
            yield action, _at(where, path), _at(where, to)
    yield from (("written", path, "") for path in by_code)


def _written_by_code(command: str) -> Iterator[str]:
    """The files that code in a command writes, by their names or by variables with those."""
    yield from (next(filter(None, found.groups())) for found in _WRITES_IN_CODE.finditer(command))
    written = {next(filter(None, found.groups())) for found in _WRITES_BY_NAME.finditer(command)}
    written.update(_WRITES_ITSELF.findall(command))
    yield from (found[2] for found in _NAMES_IN_CODE.finditer(command) if found[1] in written) if written else ()


def _without_saved(command: str) -> str:
    """The command without the code that it only saves, in a file which it does not name again."""
    for saved in reversed([*_SAVES.finditer(command)]) if "<<" in command else ():
        if saved["file"].rpartition("/")[2] not in command[saved.end() :]:
            command = command[: saved.start("code")] + command[saved.end("code") :]
    return command


def _without_heredocs(command: str) -> tuple[str, list[str]]:
    """The command without the bodies of its heredocs, and the bodies."""
    bodies: list[str] = []
    kept: list[str] = []
    rest = command
    while found := _HEREDOC.search(rest):
        line_end = rest.find("\n", found.end())
        if line_end < 0:
            break
        stop = re.compile(rf"^\s*{re.escape(found[2])}\s*$", re.MULTILINE).search(rest, line_end + 1)
        body_end = stop.start() if stop else len(rest)
        bodies.append(rest[line_end + 1 : body_end])
        kept.append(f"{rest[: found.start()]}<<…{rest[found.end() : line_end + 1]}")
        rest = rest[stop.end() :] if stop else ""
    return "".join([*kept, rest]), bodies


_LOOKS = re.compile(
    r"(?:cat|ls|head|tail|sed -n|grep|rg|find|pwd|wc|which|tree|nl|git (?:status|log|diff|show|branch|grep|blame|rev-list|rev-parse|ls-files|ls-remote|merge-base|describe)|"
    r"gh \w+ (?:list|view|status|diff|checks)|cargo tree|docker (?:ps|logs|inspect)|kubectl (?:get|describe|logs)|"
    r"jq|awk|less|sort|uniq|cut|tr|column|stat|file|du|df|ps|type|command|man|test|\[|Get-\w+|Select-String|Test-Path)(?!\S)"
)


_CHECKS = re.compile(
    r"(?:^|\s)[\w-]*lint(?=\s|$)|\b(?:pytest|phpunit|rspec|ctest|unittest|jest|vitest|tsc|typecheck|mypy|clippy|vet)\b|(?:^(?:run[-_])?|\s(?:\S*[^\w\s])?)(?:tests?|spec|lint|check|build|compile|verify)\b"
)
"""A program of a check, or its subcommand or target; a program whose name only ends so is built to be tried out."""


_HANDLES = re.compile(
    r"(?:rm|cp|mv|ln|mkdir|touch|chmod|cat|ls|grep|rg|find|sed|head|tail|wc|git|gh|curl|which) |\S+ (?:-m pip )?(?:install|add)\b"
    r"|\S*\bcheck-prerequisites\."
)
"""What handles, looks into or installs what it names, and Spec Kit's script that looks which documents there are: a folder of tests is no
check, nor is a program for them that is fetched."""


_ASKING = frozenset({
    "wait", "status", "show", "list", "ls", "get", "search", "find", "info", "describe", "view", "version", "help", "whoami",
})  # fmt: skip
"""Subcommands by which programs tell what they know, whatever they are."""


@lru_cache(maxsize=1_024)
def checks(tried: str) -> bool:
    """Whether what was tried is a check of the work: its tests, a build, a linter."""
    return _CHECKS.search(tried) is not None and not _HANDLES.match(tried)


_BUILDS = pattern(r"(?:make|ninja|mvn|gradle|cmake)\b|\S+ (?:-m pip )?(?:install|ci|sync|add)\b")
_FETCHES = pattern(
    r"(?:(?:powershell|pwsh)(?:\.exe)? (?:-\w+ )*[\"']?)?(?:wget|curl|aria2c|yt-dlp|scp|rsync|Invoke-WebRequest|iwr|Start-BitsTransfer)\b",
    re.IGNORECASE,
)
"""What brings files from elsewhere."""

_STAYS = pattern(r"\b(?:run|serve\w*|dev|start|up|watch|monitor)\b")
"""What makes something and ends, and the target of one that does not."""


def ends_soon(tried: str) -> bool:
    """Whether what was tried ends by itself: a check, a build, an installation, a download, a question, a call of git or of what
    hosts its repositories."""
    if checks(tried) or _FETCHES.match(tried) or asks_after(tried) or tried.partition(" ")[0] in ("git", "gh", "glab"):
        return True
    return _BUILDS.match(tried) is not None and not _STAYS.search(tried)


def serves(tried: str) -> bool:
    """Whether what was tried stays at work until somebody ends it, by the words for that."""
    return _STAYS.search(tried) is not None


def asks_after(tried: str) -> bool:
    """Whether a program is only asked for what it knows, by the first of its words that is no option, or waited for."""
    words = [word for word in tried.split()[1:] if not word.startswith("-")]
    return words[:1] != [] and words[0] in _ASKING


def handed_on(command: str) -> str:
    """The command that another shell is handed, as it stands there; any other one as it is."""
    found = _SHELL.fullmatch(command)
    if found is None:
        return command
    inside = found["single"] if found["double"] is None else re.sub(r"\\([\"$`\\])", r"\1", found["double"])
    return inside + found["behind"]


def without_bodies(command: str) -> str:
    """The command without the bodies of its heredocs, which stand in files."""
    bare = powershell.without_bodies(command[:_LIMIT])
    return _without_heredocs(bare)[0] if "<<" in bare else command if bare == command[:_LIMIT] else bare


@lru_cache(maxsize=1_024)
def only_looks(command: str) -> bool:
    """Whether a command only looks, so that it is no error where it finds nothing."""
    own, all_steps = _own_steps(command)
    return bool(all_steps) and all(map(_looks, own))


_BROUGHT_IN = re.compile(
    r"(?:^|/)(?:node_modules|__pycache__|\.venv|\.next|\.nuxt|\.turbo|\.cache|\.(?:pytest|mypy|ruff)_cache|\.gradle|\.tox"
    r"|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)/*(?:\*|$)"
)
"""What a program brings in again whenever it is run: none of it is deleted for good, and none of it is work."""

_MADE = re.compile(r"(?:^|/)(?:build|dist|out|target|coverage|te?mp|cache|logs?)/\*$", re.IGNORECASE)
"""A folder whose content is made, and thrown away, again and again."""

_SILENT = frozenset({"sed", "perl", "cp", "mv", "rm", "mkdir", "touch", "chmod", "cd", "ln", "tee", "cat"})
"""Programs that change files and say nothing of it."""


def is_silent(command: str) -> bool:
    """Whether a command only changes files, with programs that say nothing of it."""
    own, _ = _own_steps(command)
    return bool(own) and all(step.program[0] in _SILENT for step in own)


def shows_what_it_changed(command: str) -> bool:
    """Whether a command changes files and looks at them then: what it puts out is what stands in them."""
    own, _ = _own_steps(command)
    looks = [*map(_looks, own)]
    changing = [step for step, look in zip(own, looks) if not look or step.outputs]
    return bool(changing) and bool(looks) and looks[-1] and all(step.program[0] in _SILENT for step in changing)


_COPIES = frozenset({"cp", "mv", "ln", "rsync", "scp", "install", "dd"})
"""Programs that leave no file behind where they fail."""


def touches_of_failed(command: str) -> Iterator[Touch]:
    """The files that a command which failed touched all the same: none of what its last step that changes anything would have
    copied, which failed or was not reached."""
    own, _ = _own_steps(command)
    last = next((step for step in reversed(own) if not _looks(step)), None)
    if last is None or last.program[0] not in _COPIES or any(step.op != "&&" for step in own[own.index(last) + 1 :]):
        return touches(command)
    return touches(command.rpartition(last.text)[0])


_PIPES = ("|", "|&")


def status_lost(command: str) -> bool:
    """Whether the exit status of a command is that of a program which only passes on what another one puts out, or stands in for it."""
    _, steps = _own_steps(command)
    if steps[1:] and steps[-1].op == "||" and steps[-1].program[0] in ("true", ":", "echo"):
        return True
    if not steps or steps[-1].op not in _PIPES or "pipefail" in command:
        return False
    begin = next((at for at in range(len(steps) - 1, 0, -1) if steps[at].op not in _PIPES), 0)
    passes_on = _looks(steps[-1]) or steps[-1].program[0] in ("tee", "sed")
    return passes_on and not _looks(steps[begin])


_NAMES_ALL = pattern(
    r"(?:git|gh|glab|kill|pkill|mkdir)(?!\S)|\S+(?: run)? (?:fmt|format|env|list|show|-?-?version)\b|\S.* \S+\.[a-z]\w{0,5}$"
)
"""A step that writes no file of the work, or at most those that it names, or only how they are laid out."""


def may_write(command: str) -> bool:
    """Whether a command may write files that it does not name."""
    own, _ = _own_steps(command)
    steps = (step for step in own if not (_looks(step) or checks(_family(step))))
    return not all(_NAMES_ALL.match(" ".join(step.words)) for step in steps)


@lru_cache(maxsize=1_024)
def attempts(command: str) -> tuple[str, ...]:
    """The steps of a command that try something, as they stand there: its checks, else the last one that does more than look."""
    return tuple(step.text for step in _attempts(command))


@lru_cache(maxsize=1_024)
def family(command: str) -> str:
    """What a command is an attempt at: the program and words of the last step that tries something, without pipes and flags."""
    return next((_family(step) for step in reversed(_attempts(command))), "")


@lru_cache(maxsize=1_024)
def _own_steps(command: str) -> tuple[Sequence[ShellStep], Sequence[ShellStep]]:
    """The steps of a command that stand for themselves and do something, and all of them."""
    steps = steps_of(in_posix(handed_on(command[:_FAMILY])))
    return [step for step in steps if not step.aside and step.program[0] not in _AROUND], steps


@lru_cache(maxsize=1_024)
def _attempts(command: str) -> Sequence[ShellStep]:
    own, steps = _own_steps(command)
    tried = [step for step in own if checks(_family(step))]
    does = [step for step in own if not _looks(step)]
    served = [step for step in steps if step.program[0] not in _AROUND]
    return tried or does[-1:] or own[-1:] or served[:1] or steps[-1:]


def _looks(step: ShellStep) -> bool:
    name, args = step.program
    args = _without_options(args) if name == "git" else args
    return "--help" in args or _LOOKS.match(" ".join([name, *args[:2]])) is not None


def _family(step: ShellStep) -> str:
    name, args = step.program
    if name == "git":
        return " ".join([name, *_without_options(args)[:1]])
    flags = [arg for arg in args[:2] if arg in ("-m", "--test")]
    words = " ".join([name, *flags, *(arg for arg in args if not arg.startswith("-"))]).split()
    return " ".join(words[:_FAMILY_WORDS])


@lru_cache(maxsize=1_024)
def achieved(command: str) -> tuple[str, ...]:
    """What a command that succeeded achieved: each check of a chain of which every step needs the one before, and the last step."""
    start, arrow, steps = 0, False, list[str]()
    for found in _TOKEN.finditer(command := handed_on(command[:_FAMILY])):
        op = (found["op"] or "").strip(" \t")
        if op in (";", "||", "\n", "(", ")") or (op == "&" and not arrow):
            return (family(command),)
        if op == "&&":
            steps.append(family(command[start : found.start()]))
            start = found.end()
        arrow = bool(found["arrow"])
    return (*filter(checks, steps), family(command))


def programs(command: str, where: str = "") -> Iterator[tuple[str, list[str], str]]:
    """The programs that a command line runs, each with its arguments and the folder that it is in, where that is told.

    Of git the options before its subcommand are left out.
    """
    return ((name, [*args], folder) for name, args, folder in _programs(command, where))


@lru_cache(maxsize=1_024)
def _programs(command: str, where: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """The same, which is asked of a command by whoever looks for something else in it."""
    found = []
    for step in steps_of(_spelled_out(in_posix(without_bodies(handed_on(command[:_LIMIT]))))):
        name, args = step.program
        where = _entered(where, args) if name == "cd" else where
        folder = where
        if name == "git":
            given = args[: len(args) - len(_without_options(args))]
            for option, path in pairwise(given):
                folder = _entered(folder, [path]) if option == "-C" else folder
            args = args[len(given) :]
        found.append((name, (*args,), folder))
    return tuple(found)


def in_background(command: str) -> Iterator[str]:
    """The steps of a command line that it leaves running behind it, but for those that end by themselves soon; where it waits for
    them, and what it asks to end such."""
    command = _spelled_out(in_posix(without_bodies(handed_on(command[:_LIMIT]))))
    for step in steps_of(command):
        name, args = step.program
        left = _LEFT.match(command, step.start + len(step.whole)) and step.op != "|" and "timeout" not in step.words
        over = name in _AROUND or _looks(step) or ends_soon(family(step.whole.strip()))
        if name == "wait" or (name in KILLING and "-0" not in args):
            yield " ".join((name, *args))
        elif left and not over:
            yield " ".join(step.words)


def staged(command: str, where: str = "") -> Iterator[str]:
    """The files that a command puts by name into the next commit."""
    for name, args, folder in programs(command, where):
        if name == "git" and args[:1] == ["add"]:
            yield from (_at(folder, path) for path in args[1:] if _is_path(path) and "." in basename(path))


def _without_options(args: list[str]) -> list[str]:
    """The arguments of git from its subcommand on."""
    while args and args[0].startswith("-"):
        args = args[2 if args[0] in _GIT_OPTIONS else 1 :]
    return args


def _spelled_out(command: str) -> str:
    """A command with the folders in place of the variables that it sets, of a new one for passing use any name."""
    if "$" not in command and "`" not in command:
        return command
    command = _MAKES_FOLDER.sub(MADE_FOR_NOW, command)
    folders = dict(_SETS_FOLDER.findall(command))
    return _VARIABLE.sub(lambda found: folders.get(found[1], found[0]), command) if folders else command


_MAKES_FOLDER = rare(r"\$\(mktemp\b[^)\n]{0,200}\)|`mktemp\b[^`\n]{0,200}`")
KILLING = frozenset({"kill", "pkill", "killall", "fuser"})
"""Programs that end others."""

_LEFT = re.compile(r"[ \t]*&(?![&>])")
_SETS_FOLDER = re.compile(r"(?:^|[\s;&(])(\w{1,60})=[\"']?([/~][\w./~-]{1,300})")
_VARIABLE = pattern(r"\$\{?(\w{1,60})\}?")

_GIT_OPTIONS = ("-C", "-c", "--git-dir", "--work-tree")
"""Options of git with a word of their own behind them."""


_COMPOUND = frozenset({"for", "while", "until", "if", "case", "{", "function"})


class ShellStep(NamedTuple):
    """A simple command: its words, its redirections as (action, path), whether it only serves another one, how its words stand
    there; the operator before it, where it starts, how all of it stands there, the first word of that, and its program with its
    arguments."""

    words: list[str]
    outputs: list[tuple[str, str]]
    aside: bool
    text: str
    op: str
    start: int
    whole: str
    lead: str
    program: tuple[str, list[str]]

    @property
    def compound(self) -> bool:
        """Whether a loop, a condition, a group or a substitution begins here."""
        return self.op == "(" or self.lead in _COMPOUND or (self.words[-1:] != [] and self.words[-1].endswith("$"))


@lru_cache(maxsize=256)
def steps_of(command: str) -> tuple[ShellStep, ...]:
    """The simple commands of a line; one behind a pipe or in a substitution serves another."""
    return tuple(_steps(command))


def _steps(command: str) -> Iterator[ShellStep]:
    words: list[str] = []
    outputs: list[tuple[str, str]] = []
    arrow, aside, op, lead = "", False, "", ""
    begin = start = end = stop = -1
    for found in _TOKEN.finditer(command):
        if found["word"] is not None or found["arrow"]:
            begin, stop = found.start() if begin < 0 else begin, found.end()
        if (quoted := found["word"]) is not None:
            word = _unquote(quoted)
            lead = lead or word
            if arrow in _ARROWS:
                outputs.append((_ARROWS[arrow], word))
            elif not arrow and (words or word not in _KEYWORDS):
                start, end = start if words else found.start(), found.end()
                words.append(word)
            arrow = ""
        elif found["arrow"]:
            arrow = found["arrow"]
            if words and words[-1] in ("1", "2"):
                words.pop()
                end = found.start() - 1
        elif found["op"] == "&" and arrow:
            arrow = "&"  # `>&2`: the word that follows is no file
        elif found["op"]:
            if words or outputs:
                text, whole = command[start:end].rstrip(), command[begin:stop]
                yield ShellStep(words, outputs, aside, text, op, begin, whole, lead, _program_of(words))
                begin, lead = -1, ""
            aside = _serves(found["op"], words)
            words, outputs, arrow = [], [], ""
            if begin < 0:
                op = found["op"].strip() or "\n"
                begin = found.start() if op == "(" else -1
    if words or outputs:
        text, whole = command[start:end].rstrip(), command[begin:stop]
        yield ShellStep(words, outputs, aside, text, op, begin, whole, lead, _program_of(words))


def _serves(op: str, before: list[str]) -> bool:
    """Whether what follows an operator reads another step's output, or stands in its words or behind them."""
    substituted = op == "(" and bool(before) and before[-1].endswith("$")
    return substituted or op == ")" or (op != "||" and op.startswith("|"))


_QUOTED = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'|\\(.)|[\"']", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"$`\\])")


def _unquote(word: str) -> str:
    return _QUOTED.sub(_bare, word) if '"' in word or "'" in word or "\\" in word else word


def _bare(quoted: re.Match[str]) -> str:
    double, single, escaped = quoted.groups()
    return (single or escaped or "") if double is None else _ESCAPED.sub(r"\1", double)


def _program_of(words: list[str]) -> tuple[str, list[str]]:
    i = 0
    while i < len(words) and (words[i] in _WRAPPERS or _SETS.match(words[i]) or words[i].isdigit()):
        i += 1
    return as_program(basename(words[i]), words[i + 1 :]) if i < len(words) else ("", [])


def _segment(name: str, args: list[str], outputs: list[tuple[str, str]]) -> Iterator[Touch]:
    for action, path in outputs:
        if _is_path(path):
            yield action, path, ""
    if name == "git" and args[:1] == ["rm"] and "--cached" in args:
        return
    if name == "git" and args[:1] in (["checkout"], ["restore"]):
        yield from _put_back(args[0], args[1:])
        return
    if name == "git" and args[:1] in (["mv"], ["rm"]):
        name, args = args[0], args[1:]
    if manifest := _depends_on(name, args):
        yield "modified", manifest, ""
    paths = [a for a in args if _is_path(a)]
    if name in ("mv", "cp") and args and "$" in args[-1]:
        return  # nobody knows where they went
    if name == "rmdir" and not any(arg.lower().startswith("-r") for arg in args):
        return
    if name in ("rm", "unlink", "rmdir"):
        emptied = (arg for arg in args if arg.endswith("/*") and _is_path(arg[:-2]) and not _MADE.search(arg))
        yield from (("deleted", p, "") for p in (*paths, *emptied) if not _BROUGHT_IN.search(p))
    elif name == "mv" and len(paths) >= 2:
        yield from (("renamed", p, _into(p, paths[-1], len(paths) > 2)) for p in paths[:-1])
    elif name == "cp" and len(paths) >= 2:
        yield from (("written", _into(p, paths[-1], len(paths) > 2), "") for p in paths[:-1])
    elif name == "mkdir":
        yield from (("created", p.rstrip("/") + "/", "") for p in paths)
    elif name in ("touch", "tee"):
        yield from (("written", p, "") for p in paths)
    elif name in ("sed", "perl") and any(re.match(r"-\w*i|--in-place", a) for a in args):
        yield from (("modified", p, "") for p in _worked_on(args) if _is_path(p))
    elif name == "sed":
        yield from (("read", p, "") for p in _worked_on(args) if _is_path(p))
    elif name in _READERS and not outputs:
        yield from (("read", p, "") for p in paths if "/" in p or "." in p)
    elif name in _CONVERTERS:
        parted = [part for arg in args for part in (arg.split("=", 1) if arg.startswith("--") else [arg])]
        yield from (("written", v, "") for o, v in pairwise(parted) if o in _INTO and _is_path(v))
    elif name in ("convert", "magick", "ffmpeg") and len(paths) >= 2:
        yield "written", paths[-1], ""


_CONVERTERS = frozenset(
    {"curl", "wget", "sips", "rsvg-convert", "resvg", "inkscape", "cairosvg", "pandoc", "pdftotext"}
)
_INTO = frozenset({"-o", "-O", "--out", "--output", "--export-filename"})
"""Programs that write what they fetched or converted into a file, and the options that name it."""


_MANIFESTS = {
    "cargo": ("Cargo.toml", ("add", "remove")),
    "go": ("go.mod", ("get",)),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json", ("add", "install", "i", "remove", "uninstall"))),
    **dict.fromkeys(("uv", "poetry", "pdm"), ("pyproject.toml", ("add", "remove"))),
}
"""Where programs note what a project needs, and how they are asked to note something else there."""

_UNNOTED = frozenset({"-g", "--global", "--no-save", "--script"})


def _depends_on(name: str, args: list[str]) -> str:
    """The file in which a program notes that the project needs something, or no longer; empty where it does not."""
    file, asked = _MANIFESTS.get(name, ("", ()))
    names_one = any(not arg.startswith("-") for arg in args[1:]) and _UNNOTED.isdisjoint(args)
    return file if args[:1] and args[0] in asked and names_one else ""


def _put_back(verb: str, args: list[str]) -> Iterator[Touch]:
    """The files that git is asked to put back as they were committed, or to take from somewhere else."""
    apart = "--" in args
    before = args[: args.index("--")] if apart else args
    options = {arg.partition("=")[0] for arg in before if arg.startswith("-")}
    words = [arg for arg in before if not arg.startswith("-")]
    named = [word for word in words if verb == "restore" or _FILE_NAME.search(word)] if not apart else []
    paths = args[len(before) + 1 :] if apart else named
    from_elsewhere = options - _OF_THE_TREE or any(word not in (*named, "HEAD") for word in words)
    if options & _STAGED and not options & _TREE:
        return
    if apart or verb == "restore" or not from_elsewhere:
        yield from (("modified" if from_elsewhere else "restored", path, "") for path in paths if _is_path(path))


_FILE_NAME = re.compile(r"\w\.[A-Za-z]\w{0,7}$")
"""How a word ends that is a file rather than a branch."""

_STAGED, _TREE = frozenset({"-S", "--staged"}), frozenset({"-W", "--worktree", "-SW", "-WS"})
_OF_THE_TREE = _STAGED | _TREE | {"-f", "-q", "--force", "--quiet"}
"""Options of git with which it puts a file back, but for where from."""


def _worked_on(args: list[str]) -> list[str]:
    """The files that `sed` or `perl` work on: what is left of the arguments without options, and without the scripts."""
    scripts = {i + 1 for i, arg in enumerate(args) if re.fullmatch(r"-\w*[ef]|--expression|--file", arg)}
    plain = [arg for i, arg in enumerate(args) if arg and not arg.startswith("-") and i not in scripts]
    return plain if scripts or any(arg.startswith(("-e", "--expression=")) for arg in args) else plain[1:]


def _entered(where: str, args: list[str]) -> str:
    """The folder that is entered from another one; empty where that is not told."""
    if not args or _NOT_A_PATH.search(args[0]):
        return ""
    return normpath(args[0] if is_absolute(args[0]) else join(where, args[0]))


def _into(source: str, target: str, many: bool) -> str:
    """Where a file lands: inside the target when that is a directory."""
    return join(target, basename(source)) if many or target.endswith("/") or target in (".", "..") else target


def _is_path(word: str) -> bool:
    return 0 < len(word) <= 300 and not _NOT_A_PATH.search(word) and word not in (".", "..", "/")


def _at(where: str, path: str) -> str:
    """A path as seen from where a command was called; behind a step out of that as it was written."""
    if not path or where.startswith("..") or is_absolute(path):
        return path.removeprefix("./")
    joined = join(where, path.removeprefix("./"))
    return normpath(joined) + "/" * joined.endswith("/") if ".." in path else joined
