"""What is wrong with a draft: what can be decided is a fault, which whoever writes the next one is told, the rest a remark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foldline._facts.language import named_language
from foldline._facts.reading import user_words
from foldline._facts.speakers import spoken
from foldline._facts.speech import is_summary
from foldline._facts.types import Facts
from foldline._framing import is_sealed
from foldline._messages import Message, Summary, Text, Thinking, ToolCall, ToolResult
from foldline._patterns import pattern
from foldline._writers.draft import Draft
from foldline._writers.quotations import Quotation, ascribed, check, unfenced

_THOUGHT = pattern(r"\A\s*<(think|thinking|reasoning|analysis)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = pattern(r"\A```(?:markdown|md|text|json)?\s*\n(.*)\n```\Z", re.DOTALL)
_WRAPPED = pattern(r"\A<summary>\s*(.*?)\s*(?:</summary>)?\Z", re.DOTALL)
_PAGE = pattern(r"\A\s*(?:<!doctype|<html|<head|<body|<\?xml)", re.IGNORECASE)
_CALL = pattern(
    r"^\s*(?:<(?:tool_call|function_calls?|invoke|tool_use)\b|<\|(?:tool_call|python_tag|channel)|\[TOOL_CALLS\])",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSAL = pattern(
    r"\A\W*(?:i['’]?m (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am (?:unable|not able)|won['’]t|must decline)|as an ai\b"
    r"|申し訳|抱歉|对不起|죄송)",
    re.IGNORECASE,
)
_REFUSAL_CHARS = 600
_EXAMPLES = 3
"""How many quotations or claims are named in a fault or a remark."""

_TELLING = pattern(r"[^\W\d_]{5,}")
_STEM = 5
_CLAIM = 3
"""Telling words that a claim must have to be held against what the user said."""


class Judgement(NamedTuple):
    """What was found in a draft: faults keep it from being installed, remarks stand in the receipt."""

    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def bare(text: str) -> str:
    """A reply's text without the reasoning, the fence or the tags that some models put around it."""
    text = _THOUGHT.sub("", text).strip()
    for wrapper in (_FENCE, _WRAPPED):
        if found := wrapper.match(text):
            text = found[1].strip()
    return text


def judge(draft: Draft, messages: Sequence[Message], facts: Facts, stay: Sequence[Message] = ()) -> Judgement:
    """What is wrong with a draft, already bare, of these messages; what is to `stay` may be quoted as well."""
    if not draft.text.strip():
        return Judgement(
            ("the summary was empty" + (f": the model answered with {draft.instead}" if draft.instead else ""),)
        )
    if (shape := shape_of(draft.text)) is not None:
        return Judgement((shape,))
    user, others = said([*messages, *stay], facts), heard([*messages, *stay])
    quoted = check(draft.text, user, others)
    sealed = any(map(is_sealed, [*messages, *stay]))  # who knows what was said in it
    false, loose = ([], [*quoted.false, *quoted.loose]) if sealed else quoted
    return Judgement(tuple(_faults(draft, false)), tuple(_remarks(draft, loose, user, messages, facts)))


def shape_of(text: str) -> str | None:
    """What a text is instead of a summary."""
    if _PAGE.match(text):
        return "the summary was an HTML page"
    if _CALL.search(unfenced(text)):
        return "the summary was a tool call"
    if text[0] in "{[" and _is_json(text):
        return "the summary was JSON, not prose"
    if len(text) < _REFUSAL_CHARS and _REFUSAL.match(text):
        return "the model refused"
    return None


def _faults(draft: Draft, quotations: Sequence[Quotation]) -> Iterator[str]:
    if not draft.complete:
        yield f"the summary was cut off by {draft.instead or 'its length limit: write less'}"
    if users := [each.text for each in quotations if each.users]:
        yield f"the user never said this, so it must not be quoted as the user's words: {_named(users)}"
    if nobodys := [each.text for each in quotations if not each.users]:
        yield f"nobody ever said this, so it must not be quoted: {_named(nobodys)}"


def _remarks(
    draft: Draft, loose: Sequence[Quotation], user: Sequence[str], messages: Sequence[Message], facts: Facts
) -> Iterator[str]:
    missing = [name for name in draft.sections if not re.search(rf"(?im)^#+\s*{re.escape(name)}\b", draft.text)]
    if missing:
        yield f"sections are missing: {', '.join(missing)}"
    if language := _changed(draft.text, messages, facts):
        yield language
    if loose:
        yield f"not quoted word for word: {_named([each.text for each in loose])}"
    if claims := _unsupported(draft.text, user):
        yield f"told in none of the user's own words: {_named(claims)}"


def _named(claims: Sequence[str]) -> str:
    return "; ".join(claim[:160] for claim in list(dict.fromkeys(claims))[:_EXAMPLES])


def _unsupported(text: str, user: Sequence[str]) -> list[str]:
    """What a text says of the user without one telling word that the user used; nothing where they write two languages."""
    spoken = "\n".join(user)
    if named_language(text) != named_language(spoken):
        return []
    known = {word[:_STEM].casefold() for word in _TELLING.findall(spoken)}
    claims = ((claim, {word[:_STEM].casefold() for word in _TELLING.findall(claim)}) for claim in ascribed(text))
    return [f"the user {claim}" for claim, words in claims if len(words) >= _CLAIM and not words & known]


def said(messages: Sequence[Message], facts: Facts) -> list[str]:
    """Everything that the user said or pasted, as far back as the facts know, and what earlier summaries hold."""
    words = ("\n".join(span.text for span in spans if span.by in ("user", "paste")) for spans in spoken(messages))
    rules = [c.text for c in facts.rules if c.by == "user"]
    told = [p.text for m in messages for p in m.parts if type(p) is Summary or (type(p) is Text and is_summary(p.text))]
    return [*(r.text for r in facts.requests), *rules, *filter(None, words), *told]


def heard(messages: Sequence[Message]) -> list[str]:
    """Everything that stands in messages, whoever said it; what has JSON's escapes also without them."""
    texts: list[str] = []
    for part in (part for message in messages for part in message.parts):
        match part:
            case Text(text) | Summary(text) | Thinking(text):
                texts.append(text)
            case ToolCall(_, _, arguments):
                texts.append(arguments)
            case ToolResult(parts=parts):
                texts += (each.text for each in parts if type(each) is Text)
    return [*texts, *(_unescaped(text) for text in texts if "\\" in text)]


def _unescaped(text: str) -> str:
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return re.sub(r"\\[nrt]", " ", text)


def language_for(messages: Sequence[Message]) -> str:
    """The language that a summary of messages should have: the user's, as far as it can be told."""
    return named_language("\n".join(reversed([*user_words(messages)])))


def _changed(text: str, messages: Sequence[Message], facts: Facts) -> str:
    """That a text is in another language than the user and the agent, as far as theirs can be told; else empty."""
    user = named_language("\n".join(r.text for r in reversed(facts.requests)))
    agent = named_language("\n".join(m.text for m in reversed(messages) if m.role == "assistant"))
    written = named_language(re.sub(r"(?m)^#+ .*$", "", text))
    if not (user or agent) or not written or written in (user, agent):
        return ""
    return f"the summary is in {written}, the conversation in {user or agent}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
