"""What a user pasted and did not say: terminals, traces, logs, diffs, JSON, code, quotations, another model's answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from foldline._patterns import pattern

_FOUND = r"(?:Line )?\d{1,6}:\d{1,5}:? +(?:error|warning) +\S|Line \d{1,6}:\d{1,5}: +\S"
"""What a linter found in a file."""

_PRINTED = (
    # traces and errors: frames, exceptions by their class, compilers with the place
    r"at (?:[^\n(]{1,160}\()?[^\s()]{1,200}:\d+:\d+\)?$|at [\w.$<>]{1,200}\([\w.]{1,80}:\d+\)$|\.\.\. \d+ more$|"
    r"File \"[^\"\n]+\", line \d|Traceback \(most recent|goroutine \d+ \[|npm (?:ERR!|error) |"
    r"(?:Uncaught |Caused by: )?(?:[\w.]{1,80}[a-z_](?:Error|Exception|Warning)|Error|ERROR|error|fatal|panic)"
    r"(?:\s?\[\w+\])?: |[^\s:(]{1,200}[:(]\d+[:,]\d+\)?:? (?:- )?(?:error|warning)\b|"
    rf"{_FOUND}|✖ \d{{1,6}} problems? \(|"
    # a browser's console: what a script was called from, a request by its method
    r"[\w.()$<> -]{1,80} @ [\w.-]{1,80}(?:\?\w+=\w+)?:\d+|[\w.-]{1,80}(?:\?\w+=\w+)?:\d{1,6}(?::\d+)? +(?:GET|POST|PUT|PATCH|DELETE|OPTIONS|HEAD|Uncaught|WebSocket|Failed to) |"
    # steps of the build of an image
    r"#\d{1,3} (?:\[[^\]\n]{1,60}\] |\d+\.\d{1,3} |DONE \d|CACHED$|sha256:|exporting |naming to |transferring )|"
    # runners of tests: what came of each
    r"\S{1,200}::\S{1,200} (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b|(?:PASSED|FAILED|ERROR) \S{1,200}::|--- (?:PASS|FAIL|SKIP): |"
    r"=== RUN |test \S{1,200} \.\.\. (?:ok|FAILED|ignored)\b|"
    # logs: a date with a time, a time with its fraction, a level in brackets
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[.,]\d|\[(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]|"
    r"(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|CRITICAL): {2,}\S"
)
_DRAWN = r"[│┃╭╰├└┌⎿⏺]"
"""The frames that terminal programs draw."""

_SOURCE = (
    # diffs, JSON
    r"diff --git |@@ -\d|\+\+\+ [ab]/|--- [ab]/|"
    r"\{\s{0,40}\"|\[\s{0,40}[\"{]|\"[\w$.@/-]{1,80}\"\s?: ?(?:[\"{\[\d-]|true|false|null)|"
    # JSON whose beginning was cut off, the head of a page
    r"[^\s{]{0,60}[\"\d\]}],\s?\"[\w$.@/-]{1,60}\"\s?: ?[\"{\[\d-]|</?(?:!DOCTYPE|html|head|body|script|style|meta|link|title)\b[^<>\n]*>(?:[^<>\n]*</\w+>)?\s*$|"
    # code, where it can be nothing else
    r"//|/\*|#include |import [^\n]{1,200} from ['\"]|(?:const|let|var) \w+(?:: [^=\n]{1,40})? = |[^\n]{0,300}=> \{$|"
    r"from [\w.]+ import (?:\(|\*|\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)$|class [A-Z]\w*(?:\([^)\n]*\))? ?[:{]$|"
    r"export (?:default |declare |abstract |async )*(?:interface|enum|type|const|class|function) \w+ ?[<({=:]|"
    r"(?:async )?(?:def|function) \w+\([^\n]*[:{]$|(?:if|for|while|switch|catch) \([^\n]*\) \{$|"
    r"(?:[\w.$]{1,80} = )?(?:await |return |new ){0,2}[\w.$]{1,80}\([^\n]*\);$"
)
_OUTPUT = pattern(rf"\s{{0,40}}(?:{_PRINTED}|{_DRAWN}|{_SOURCE})")
"""A line that no one types as a sentence; what may be a rule's label, like `Warning:` or `Note:`, is none."""

_LOG = pattern(rf"\s{{0,40}}(?:{_PRINTED})")
"""A line that a program wrote while it ran."""

_PROMPT = pattern(
    r"\s{0,4}(?:(?:\([\w.-]{1,30}\) )?[\w.-]{1,40}@[\w.-]{1,60}[: ][^\s$#%]{0,80} ?[$#%] \S|(?:\([\w.-]{1,30}\) )?[$➜❯] +\S|[\w./~-]{1,60} [➜❯] +\S|PS [A-Z]:\\[^>\n]{0,80}> ?\S|~?/[\w./~-]{1,100} \([\w./-]{1,60}\)\s*$)"
)
"""A shell's prompt with a command: what follows is what it printed."""

_LINTED, _LINTED_FILE = (
    pattern(rf"\s*(?:{_FOUND})"),
    pattern(r"\s*\S{0,300}[/\\][^\s/\\]{1,100}\.\w{1,6}\s*$"),
)
"""What a linter found, and the file in a line of its own above."""

_PROSE, _WRAPPED = pattern(r"\s{0,4}(?:[^\W\d_]+[,:;]? +){3}"), 2
"""How a line begins that someone typed, and the lines of a sentence that a screen broke."""

_HUNK = ("@@ -", "diff --git ", "+++ ", "--- ")
_SCREEN = "    "
"""How the lines end that were copied from a terminal's screen."""

_NUMBERED = pattern(r"\s*\+ {1,6}\d{1,6}(?: |$)")
"""An added line of a diff with its number, as agents draw them."""

_FEWEST = 3
"""Numbered lines from which they are a diff; fewer may be a list."""

_RUN = 4
"""Lines of one shape from which they were pasted."""

_LOGGED = 12
"""Lines of a log from which a text is one, where they are half of it."""

_CLOCK = pattern(r"(?<![\d:])\d{1,2}:\d\d(?!\d)")
_SERVICE = pattern(r"([a-z0-9][\w.-]{0,60}) +\|(?: |$)")
"""The name of a service before what it put out, as Docker Compose has it."""

_CONSOLE = pattern(r"\s*(?:[\w.-]+\.[cm]?[jt]sx?|\([\w áéíóúçãõäöüß]+\)):\d{1,6}(?::\d+)? +\S")
"""A line of a browser's console: the script and its line, then what it says."""

_SIZED, _SET = pattern(r"\s*\d[\d.,]*[KMGT]?\s+[^\s\d]\S*\s*$"), pattern(r"\s*[A-Z_][A-Z0-9_]+ ?= ?\S+\s*$")
"""A file behind its size or its lines, as `du` and `wc` have them; a constant or a variable of the environment with its value."""

_GAP = pattern(r"\S(?:\t| {2,})\S")

_LONGEST = 60
"""Lines over which a bracket is looked for that closes."""

_SUSPECT = pattern(r"[:：(\[{;\"/│┃╭╰├└┌⎿⏺\d$➜❯#%`~>+]")
"""What every line of output has, and most lines of prose have not; else a word of it, or the blanks of a screen."""

_PROMPTS = pattern(r"[$➜❯#%]|PS [A-Z]:|/\S{0,100} \(")
_INTRODUCTION = 300
"""Characters of the longest line that introduces an answer."""

_FRONT, _FIELD = pattern(r"---\s*$"), pattern(r"(?:name|description|title|model|tools|globs|alwaysApply)\s?:")
"""The line around the head of a file of instructions for agents, a skill or a memo, and a line in it that tells it."""

_HEAD = 16
"""Lines of the longest such head."""

_DOCUMENT = pattern(r"^#{2,6} [^\n]+\n+(?=# \S)", re.MULTILINE)
"""A heading right over the title of a document, which nobody writes above a title of one's own."""

_MAIL_HEAD = pattern(
    r"\s*>?\s*\**(?:From|To|Cc|Sent|Date|Subject|Re|Fwd?|Von|An|Gesendet|Datum|Betreff|De|Para|Enviad[ao](?: em)?|Fecha|Asunto|Data|Assunto|Dari|Kepada|Tanggal|Perihal|À|Objet|Envoyée?(?: le)?"
    r"|发件人|收件人|主题|日期|差出人|宛先|件名|日時|보낸 ?사람|받는 ?사람|제목|날짜)\**\s?[:：] ?\S",
)
_ADDRESS = pattern(r"<?[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?\s*$")
_FEWEST_HEADS = 2
"""Lines of the head of a mail; one is enough that ends with an address."""

_SIGNS_OFF = pattern(
    r"\s*(?:(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|best|cheers|sincerely|yours(?: \w+)?|thanks|many thanks|mfg|mit \w+ grüßen|(?:viele|beste|liebe|schöne) grüße|gruß|lg|vg"
    r"|saludos|un saludo|atentamente|cordialmente|atenciosamente|att|abraços?|abs|um abraço|cumprimentos|com os melhores cumprimentos|(?:bien )?cordialement|bien à (?:vous|toi)|(?:meilleures|sincères) salutations|respectueusement|amicalement|salam|hormat (?:kami|saya)|terima kasih|此致|祝好|以上|よろしくお願い\S*|敬具|감사합니다|드림)\b[\s,.!-]*",
    re.IGNORECASE,
)
"""How a mail ends, before the names of who wrote it."""

_SALUTES = pattern(
    r"\s*(?:dear|hi|hello|hallo|liebe\w*|sehr geehrte\w*|guten (?:tag|morgen)|hola|estimad\w+|buen\w+ (?:días|tardes)|prezad\w+|car[oa]s?|olá|oi|bom dia|boa (?:tarde|noite)|ex\.?m[oa]s?\.?|bonjour|bonsoir|madame|monsieur|mesdames|ch(?:er|ère)s?|yth|halo)\b[^\n]{0,60}[,:!.]?\s*$",
    re.IGNORECASE,
)

_BULLET = pattern(r"\s*(?:[-*•] |\d{1,3}[.)] )")
_FENCE = pattern(r"\s{0,3}(?:```|~~~)")
_CODE_BLOCK = pattern(
    r"^ {0,3}(```|~~~)(?!(?:te?xt|plain(?:text)?|logs?|console|terminal|output|shell-?session|trace(?:back)?)\b)\w[^\n`]*\n.*?^ {0,3}\1\s*$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""A fenced block whose language is named, and is none of those of outputs."""

_PRINTS = pattern(
    r"^ {0,3}(?:```|~~~)(?:logs?|console|terminal|output|shell-?session|trace(?:back)?)\b", re.MULTILINE | re.I
)
"""A fence that says that a program printed what stands in it."""

_WORDS_BEHIND = pattern(
    r"(\s{0,8}[{\[][{\[\"].{0,4000}[}\]](?=[,;.]? )"
    r"|[^\n\"]{0,120}\"[A-Z]{3,7} [^\"\n]{1,300} HTTP/[\d.]{1,3}\" \d{3} (?:(?:OK|Created|Accepted|No Content|Found|Not Found|Forbidden|Unauthorized|Conflict"
    r"|Bad (?:Request|Gateway)|Internal Server Error|Service Unavailable|Too Many Requests|Method Not Allowed|Unprocessable \w+) )?)"
    r"[,;.]? *(?:[^\W\d_]+(?:['’][^\W\d_]+)?,? +){4,}[^{}\[\]\"]*$"
)
"""JSON, or a request that a server logged, on a line with several words behind it."""

_STAMPED = pattern(r"\s{0,8}\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[.,\]]")
_WORDS_BEFORE = pattern(
    r"(?=[^\n]{0,400}?[^\W\d_]{2})([^\n\d\[]{4,400}[:：] ?)(?=\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[.,\]])"
)
"""A line of a log that has its time before it, and the words that lead in a log on its first line."""

_SENTENCE = pattern(r"[^\W\d_][\w'’,;:() \"“”-]*[.!?]")
_MACHINE = pattern(r"\s|[^\w\"'“(¿¡]|\S*\d\.\d|\S*[a-z]/[a-z]|\S*\w\.\w+ v?\d|[\w.-]+[:=]\S")
"""How a paragraph begins that goes on with what a terminal printed."""

_ANSWERER = pattern(
    r"(?i)[^\n]*\b(?:chat ?gpt|gpt-?\d[\w.-]*|claude|gemini|codex|copilot|deepseek|grok|qwen|kimi|llama|another (?:model|agent|ai|llm|assistant))\b"
    r"(?:(?!\b(?:must|should|shall|ha(?:s|ve) to|needs? to|will|can|may|please|always|never)\b)[^\n]){0,60}\b(?:said|says|answer(?:ed|s)?|repl(?:ied|ies|y)|respon(?:ded|ds|se)|suggest(?:ed|s|ion)?|propos(?:ed|es|al)|recommend(?:ed|s)?|"
    r"wrote|thinks|output|review|opinion|feedback)\b[^\n]{0,40}[:：]\s*$"
)
"""A line that introduces what another model answered."""


def parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces of whole lines, in order, each with whether it was pasted."""
    lines = _lines(text)
    start, before = 0, False
    for at, pasted in enumerate(_pasted(lines)):
        if at > start and pasted != before and lines[at].strip():
            yield before, "".join(lines[start:at])
            start = at
        before = pasted if at == start or lines[at].strip() else before
    if lines:
        yield before, "".join(lines[start:])


def without_output(text: str) -> str:
    """The text without the lines of pasted output."""
    lines = [line.rstrip("\r\n") for line in _lines(text)]
    return "\n".join(line for line, pasted in zip(lines, _pasted(lines)) if not pasted)


def _lines(text: str) -> list[str]:
    """The lines of a text, of one that goes on in words behind what it was pasted with both parts."""
    lines = text.splitlines(keepends=True)
    ends = [found.end(1) if (found := _WORDS_BEHIND.match(line)) else 0 for line in lines]
    for at, (line, below) in enumerate(pairwise(lines)):
        if _STAMPED.match(below) and (found := _WORDS_BEFORE.match(line)):
            ends[at] = found.end(1)
    return [part for line, end in zip(lines, ends) for part in (line[:end], line[end:]) if part]


def code(paste: str) -> str:
    """What was pasted, where all of it is blocks of code, without a terminal among them; else nothing."""
    whole = "```" in paste or "~~~" in paste
    whole = whole and not _CODE_BLOCK.sub("", paste).strip() and not any(map(_PROMPT.match, paste.splitlines()))
    return paste if whole else ""


def specified(paste: str) -> str:
    """What was pasted, where no program wrote it while it ran: amid a document that says what is wanted."""
    lines = paste.splitlines()
    ran = any(_PROMPT.match(line) or _LOG.match(line) or _shape(line) in ("tag", "clock") for line in lines)
    return "" if ran or _PRINTS.search(paste) else paste


def without_document(text: str) -> str:
    """The text up to a document that was pasted below a heading of its own: what that says is not what the user says."""
    found = _DOCUMENT.search(text) if "\n# " in text else None
    return text[: found.start()] if found and text[: found.start()].strip() else text


def without_mail(text: str) -> str:
    """The text without the mails that were pasted: from their head to their signature, else to the end of their first paragraph."""
    lines = text.splitlines(keepends=True)
    heads = [bool(_MAIL_HEAD.match(line)) for line in lines]
    kept: list[str] = []
    at = 0
    while at < len(lines):
        many = next((n for n in range(len(lines) - at) if not heads[at + n]), len(lines) - at)
        addressed = many == 1 and _ADDRESS.search(lines[at])
        if many >= _FEWEST_HEADS or addressed:
            at = _end_of_mail(lines, at + many)
        else:
            kept.append(lines[at])
            at += 1
    return "".join(kept) if at and len(kept) < len(lines) else text


def _end_of_mail(lines: list[str], start: int) -> int:
    """The line behind a mail whose head ends before one."""
    signed = next((at for at in range(start, min(start + _LONGEST, len(lines))) if _SIGNS_OFF.match(lines[at])), None)
    at = start if signed is None else signed
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at == start and at + 2 < len(lines) and _SALUTES.match(lines[at]) and not lines[at + 1].strip():
        at += 2
    while at < len(lines) and lines[at].strip():
        at += 1
    return at


def _alike(lines: list[str]) -> Iterator[int]:
    """The lines that stand in a run of one shape, as in a chat, a table or a list of settings: nobody types so."""
    run: list[int] = []
    shape = ""
    for at, line in enumerate([*lines, "\n\n"]):
        if at < len(lines) and not line.strip():
            continue
        now = _shape(line)
        if now != shape or not now:
            yield from run if len(run) >= _RUN else ()
            run, shape = [], now
        run.append(at)


@lru_cache(maxsize=4_096)
def _shape(line: str) -> str:
    """What a line has that lines of a chat or a table share; empty where it has nothing of it."""
    if _BULLET.match(line):
        return ""
    head = line[:40]
    if head.lstrip().startswith("[") and "]" in head:
        return "tag"
    if ":" in head and _CLOCK.search(head):
        return "clock"
    if service := _SERVICE.match(head):
        return service[1]
    if _CONSOLE.match(line):
        return "console"
    if _SIZED.match(line):
        return "size"
    if _SET.match(line):
        return "setting"
    return "columns" if "  " in line.strip() and len(_GAP.findall(line.strip())) >= 2 else ""


def _pasted(lines: list[str]) -> list[bool]:
    """Whether each line was pasted; in a log that is all but what was typed before and behind it."""
    marks = _outputs(lines)
    logged = [at for at, line in enumerate(lines) if marks[at] and (_LOG.match(line) or _shape(line))]
    if len(logged) < _LOGGED or 2 * len(logged) < sum(1 for line in lines if line.strip()):
        return marks
    end = logged[-1]
    while end + 1 < len(lines) and lines[end + 1].strip() and not _SENTENCE.fullmatch(lines[end + 1].strip()):
        end += 1
    return [pasted or logged[0] < at <= end for at, pasted in enumerate(marks)]


def _heads_findings(lines: list[str], at: int) -> bool:
    """Whether a line is the name of a file below which a linter says what it found there."""
    below = lines[at + 1 : at + 2]
    return bool(below and _LINTED.match(below[0]) and _LINTED_FILE.match(lines[at]))


def _outputs(lines: list[str]) -> list[bool]:
    """Whether each line is output, or goes on with it.

    Beside lines that are output by themselves those are pasted that go on with one. Below a prompt that is all up to
    a paragraph that someone typed; below other output it is, up to the next blank line, what is indented and no item
    of a list, or stands in brackets that output opened and closes. Where all is quoted nothing is: somebody says it again.
    """
    marks = [False] * len(lines)
    if all(line.lstrip().startswith(">") for line in lines if line.strip()):
        return marks
    text = "".join(lines)
    alike = set(_alike(lines)) if len(lines) >= _RUN else set[int]()
    prompts = _PROMPTS.search(text) is not None
    closers = _closers(lines) if "```" in text or "~~~" in text else {}
    numbered = sum(1 for line in lines if "+" in line[:8] and _NUMBERED.match(line)) >= _FEWEST
    closes, searched = -1, -1
    inside = hunk = terminal = blank = False
    for at, line in enumerate(lines):
        if at in alike:
            marks[at], inside = True, False
            continue
        if not (terminal or inside or at <= closes or _suspect(line) or line.startswith("---")):
            continue
        if at <= closes:
            marks[at] = True
        elif not line.strip():
            inside, hunk, blank = False, False, True
            continue
        elif (end := _fenced(lines, at, closers) or _answered(lines, at) or _instructs(lines, at)) is not None:
            closes, inside, terminal = end, False, False
            marks[at] = not _ANSWERER.match(line)
        elif line.startswith(">") or (prompts and _PROMPT.match(line)) or (not terminal and _of_screen(lines, at)):
            terminal = not line.startswith(">")
            marks[at] = True
        elif _OUTPUT.match(line) or (numbered and _NUMBERED.match(line)) or _heads_findings(lines, at):
            marks[at] = inside = True
            hunk = hunk or line.startswith(_HUNK)
            if at > searched:
                searched, closed = _closing(lines, at)
                closes = max(closes, at, closed)
        elif terminal and not _resumes(lines, at, blank):
            marks[at] = True
        else:
            terminal = False
            marks[at] = inside = inside and _goes_on(line, hunk)
        blank = False
    return marks


def _suspect(line: str) -> bool:
    return _SUSPECT.search(line) is not None or _SCREEN in line or "import" in line or "npm" in line


def _of_screen(lines: list[str], at: int) -> bool:
    """Whether a line was copied from a terminal's screen, and is no sentence that only goes on in the next, the last one."""
    line = lines[at]
    if _SCREEN not in line or not line.rstrip("\r\n").endswith(_SCREEN):
        return False
    return at > 0 or len(lines) > _WRAPPED or _PROSE.match(line) is None


def _goes_on(line: str, hunk: bool) -> bool:
    """Whether a line goes on with the output above it: in a diff what was added and taken away, else what is indented."""
    return (hunk and line[0] in "+- ") or (line[0] in " \t" and not _BULLET.match(line))


def _resumes(lines: list[str], at: int, blank: bool) -> bool:
    """Whether below a terminal's output someone types again: behind a blank line in words, or in a last sentence."""
    line = lines[at].strip()
    if blank:
        return not _MACHINE.match(lines[at])
    return at == len(lines) - 1 and _SENTENCE.fullmatch(line) is not None


def _closers(lines: list[str]) -> dict[str, list[int]]:
    """The lines that may close a fence."""
    bare: dict[str, list[int]] = {"```": [], "~~~": []}
    for at, line in enumerate(lines):
        if (fence := line.strip()) in bare:
            bare[fence].append(at)
    return bare


def _fenced(lines: list[str], at: int, closers: dict[str, list[int]]) -> int | None:
    """The line that closes the fence which one opens; one that is never closed is the user's own."""
    opening = _FENCE.match(lines[at]) if closers else None
    if opening is None:
        return None
    found = closers[opening[0].strip()]
    behind = bisect_right(found, at)
    return found[behind] if behind < len(found) else None


def _answered(lines: list[str], at: int) -> int | None:
    """The last line of another model's answer that a line introduces: all, or all but a last line of the user's own.

    Who asked for something before it has spoken; who did not does so behind it.
    """
    line = lines[at]
    if not line.rstrip().endswith((":", "：")) or len(line) > _INTRODUCTION or not _ANSWERER.match(line):
        return None
    last = len(lines) - 1
    while last > at and not lines[last].strip():
        last -= 1
    own = last - 1 > at and not lines[last - 1].strip() and not _BULLET.match(lines[last])
    spoken = any(line.strip() for line in lines[:at])
    return None if last <= at else last - 1 if own and not spoken else last


def _instructs(lines: list[str], at: int) -> int | None:
    """The last line of a file of instructions, of which one opens the head below what was typed: all that follow."""
    if not _FRONT.match(lines[at]) or not any(line.strip() for line in lines[:at]):
        return None
    head = lines[at + 1 : at + 1 + _HEAD]
    closed = next((i for i, line in enumerate(head) if _FRONT.match(line)), 0)
    return len(lines) - 1 if any(map(_FIELD.match, head[:closed])) else None


def _closing(lines: list[str], start: int) -> tuple[int, int]:
    """The last line that was looked at, and the one of the paragraph that closes the brackets which one opens, or -1."""
    depth = 0
    at = start
    for at in range(start, min(start + _LONGEST, len(lines))):
        line = lines[at]
        if not line.strip():
            break
        depth += line.count("{") + line.count("[") - line.count("}") - line.count("]")
        if depth <= 0:
            return start, at
    return at, -1
