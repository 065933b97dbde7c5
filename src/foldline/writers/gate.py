"""What is wrong with a draft: named, so that it can be said to whoever writes the next one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from foldline.facts.language import language_of
from foldline.facts.speech import is_summary, own_words
from foldline.facts.types import Facts
from foldline.messages import Message, Summary, Text
from foldline.writers.draft import Draft
from foldline.writers.invented import invented

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning|analysis)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A```(?:markdown|md|text|json)?\s*\n(.*)\n```\Z", re.DOTALL)
_WRAPPED = re.compile(r"\A<summary>\s*(.*?)\s*(?:</summary>)?\Z", re.DOTALL)
_PAGE = re.compile(r"\A\s*(?:<!doctype|<html|<head|<body|<\?xml)", re.IGNORECASE)
_CALL = re.compile(
    r"^\s*(?:<(?:tool_call|function_calls?|invoke|tool_use)\b|<\|(?:tool_call|python_tag|channel)|\[TOOL_CALLS\])",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSAL = re.compile(
    r"\A\W*(?:i['’]?m (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am (?:unable|not able)|won['’]t|must decline)|as an ai\b"
    r"|申し訳|抱歉|对不起|죄송)",
    re.IGNORECASE,
)
_REFUSAL_CHARS = 600
_EXAMPLES = 3
"""How many invented requests are named in a fault."""


def bare(text: str) -> str:
    """A reply's text without the reasoning, the fence or the tags that some models put around it."""
    text = _THOUGHT.sub("", text).strip()
    for wrapper in (_FENCE, _WRAPPED):
        if found := wrapper.match(text):
            text = found[1].strip()
    return text


def faults_of(draft: Draft, messages: Sequence[Message], ledger: Facts) -> tuple[str, ...]:
    """What keeps a draft, already bare, from being installed, most telling first; empty where nothing does."""
    if not draft.text.strip():
        return ("the summary was empty" + (f": the model answered with {draft.instead}" if draft.instead else ""),)
    if (shape := shape_of(draft.text)) is not None:
        return (shape,)
    return tuple(_content(draft, messages, ledger))


def shape_of(text: str) -> str | None:
    """What a text is instead of a summary."""
    if _PAGE.match(text):
        return "the summary was an HTML page"
    if _CALL.search(text):
        return "the summary was a tool call"
    if text[0] in "{[" and _is_json(text):
        return "the summary was JSON, not prose"
    if len(text) < _REFUSAL_CHARS and _REFUSAL.match(text):
        return "the model refused"
    return None


def _content(draft: Draft, messages: Sequence[Message], ledger: Facts) -> Iterator[str]:
    if not draft.complete:
        yield f"the summary was cut off by {draft.instead or 'its length limit: write less'}"
    missing = [name for name in draft.sections if not re.search(rf"(?im)^#+\s*{re.escape(name)}\b", draft.text)]
    if missing:
        yield f"sections are missing: {', '.join(missing)}"
    wrong = invented(draft.text, said(messages, ledger))
    if wrong:
        named = "; ".join(claim[:160] for claim in wrong[:_EXAMPLES])
        yield f"the user never said this, so it must not be attributed to the user: {named}"
    if language := _changed(draft.text, messages, ledger):
        yield language


def said(messages: Sequence[Message], ledger: Facts) -> list[str]:
    """Everything that the user said, as far back as the ledger knows, and what earlier summaries hold."""
    words = [own_words(p.text) for m in messages if m.role == "user" for p in m.parts if type(p) is Text]
    rules = [c.text for c in ledger.rules if c.by == "user"]
    told = [p.text for m in messages for p in m.parts if type(p) is Summary or (type(p) is Text and is_summary(p.text))]
    return [*(r.text for r in ledger.requests), *rules, *filter(None, words), *told]


def spoken_in(messages: Sequence[Message], ledger: Facts) -> list[str]:
    """The languages of the conversation, the user's first, as far as they can be told."""
    user = language_of("\n".join(r.text for r in reversed(ledger.requests)))
    replies = (m.text for m in reversed(messages) if m.role == "assistant")
    assistant = language_of("\n".join(replies))
    return list(dict.fromkeys(filter(None, (user, assistant))))


def language_for(messages: Sequence[Message]) -> str:
    """The language that a summary of messages should have: the user's, as far as it can be told."""
    words = [own_words(p.text) for m in reversed(messages) if m.role == "user" for p in m.parts if type(p) is Text]
    return language_of("\n".join(filter(None, words)))


def _changed(text: str, messages: Sequence[Message], ledger: Facts) -> str:
    prose = re.sub(r"(?m)^#+ .*$", "", text)
    spoken = spoken_in(messages, ledger)
    written = language_of(prose)
    if not spoken or not written or written in spoken:
        return ""
    return f"the summary is in {written}, the conversation in {spoken[0]}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
