"""Which provider errors mean "too long", and the numbers that they state.

Rate limits, time-outs, quota and overload are never overflows. What cannot be decided is not one either: a 400 without
a reason (Vertex through gaxios, Cerebras without a body) may be anything, and a server that truncates in silence
(Ollama, z.ai) says nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import msgspec

from foldline._errors import ContextOverflow
from foldline._patterns import pattern


class Signature(NamedTuple):
    """How one provider words an overflow; groups `t`, `o` and `l` are request and reply together, reply, and limit."""

    provider: str
    pattern: str
    sample: str


_T, _O, _L = (rf"(?P<{group}>\d[\d,]{{0,14}})" for group in "tol")

_BYTES = r"request exceeds the maximum (?:allowed )?(?:size|number of bytes)"
_GATEWAY = r"request entity too large|payload too large|content too large"
_TOO_MANY_BYTES = pattern(f"{_BYTES}|{_GATEWAY}", re.IGNORECASE)

SIGNATURES = (
    Signature("Anthropic", rf"prompt is too long:? {_T} tokens? > {_L}",
        "prompt is too long: 274468 tokens > 200000 maximum"),
    Signature("Anthropic, with the reply", rf"input length and .?max_tokens.? exceed context limit: {_T} \+ \d+ > {_L}",
        "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or "
        "`max_tokens` and try again"),
    Signature("Anthropic, bytes", _BYTES,
        "Request exceeds the maximum size"),
    Signature("Bedrock Claude, Claude Code", r"(?:prompt|input) is too long(?: for requested model)?",
        "Input is too long for requested model."),
    Signature("vLLM",
        rf"maximum (?:context|model) length is {_L} tokens.{{0,80}}?prompt contains at least {_T} input tokens",
        "This model's maximum context length is 40960 tokens. However, you requested 0 output tokens and your "
        "prompt contains at least 40961 input tokens, for a total of at least 40961 tokens."),
    Signature("vLLM, older", rf"prompt \(length {_T}\) is longer than the maximum model length of {_L}",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    Signature("SGLang",
        rf"exceeds the model's maximum context length of {_L} tokens.{{0,80}}?: {_T} tokens from the input",
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of "
        "9000 tokens: 8500 tokens from the input messages and 500 tokens for the completion."),
    Signature("OpenAI chat, Azure, DeepSeek, OpenRouter, older vLLM, Bedrock Llama",
        rf"maximum context length is {_L} tokens"
        rf"(?:.{{0,40}}?(?:resulted in|requested)(?: about)? {_T} tokens"
        rf"(?: \([^()]{{0,120}}?{_O} in the (?:completion|output))?)?",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 149767 tokens."),
    Signature("OpenAI Responses", r"input exceeds the context window",
        "Your input exceeds the context window of this model."),
    Signature("Gemini", rf"input token count(?: \({_T}\))? exceeds the maximum number of tokens allowed(?: \(?{_L})?",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
    Signature("Vertex", rf"input token count is {_T} but (?:the )?model only supports up to {_L}",
        "Unable to submit request because the input token count is 1100000 but model only supports up to 1048576."),
    Signature("Bedrock Nova", r"number of input tokens exceeds maximum length",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length."),
    Signature("Bedrock Titan", rf"too many input tokens\. max input tokens: {_L}, request input token count: {_T}",
        "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9001"),
    Signature("Groq", r"reduce the length of the messages or completion",
        "Please reduce the length of the messages or completion."),
    Signature("xAI", rf"maximum prompt length is {_L} but the request contains {_T} tokens",
        "This model's maximum prompt length is 131072 but the request contains 149617 tokens."),
    Signature("Mistral", rf"prompt contains {_T} tokens.{{0,40}}?too large for model with {_L} maximum context length",
        "Prompt contains 159202 tokens and 0 draft tokens, too large for model with 131072 maximum context length"),
    Signature("Together, TGI", rf"inputs.? tokens \+ .?max_new_tokens.? must be <= {_L}(?:\. given: {_T})?",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens "
        "and 512 `max_new_tokens`"),
    Signature("Fireworks", rf"prompt is too long: {_T}, model maximum context length: {_L}",
        "The prompt is too long: 140000, model maximum context length: 131071"),
    Signature("llama.cpp", rf"request(?: \({_T} tokens\))? exceeds the available context size(?: \({_L} tokens\))?",
        "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    Signature("LM Studio",
        rf"keep the first {_T} tokens when context the overflows\..{{0,80}}?context length of only {_L} tokens",
        "Trying to keep the first 5210 tokens when context the overflows. However, the model is loaded with context"
        " length of only 4096 tokens, which is not enough."),
    Signature("LM Studio, older", r"tokens to keep from the initial prompt is greater than the context length",
        "The number of tokens to keep from the initial prompt is greater than the context length."),
    Signature("Ollama, its log", rf"truncating input prompt.{{0,20}}? limit={_L} prompt={_T}",
        "truncating input prompt limit=2050 prompt=8707 keep=4 new=2050"),
    Signature("Ollama", r"input length exceeds the context length|prompt too long; exceeded",
        "the input length exceeds the context length"),
    Signature("Venice, SGLang", rf"input \({_T} tokens\) is longer than the model's context length \({_L} tokens\)",
        "The input (35034 tokens) is longer than the model's context length (32768 tokens)."),
    Signature("Copilot", rf"prompt token count of {_T} exceeds the limit of {_L}",
        "prompt token count of 140123 exceeds the limit of 128000"),
    Signature("Kimi", rf"exceeded model token limit: {_L}(?: \(requested: {_T}\))?",
        "Your request exceeded model token limit: 262144 (requested: 291351)"),
    Signature("MiniMax", r"context window exceeds limit", "invalid params, context window exceeds limit (2013)"),
    Signature("Zhipu", r"prompt exceeds max length", "Prompt exceeds max length"),
    Signature("DashScope", rf"range of input length should be \[1, {_L}\]",
        "Range of input length should be [1, 98304]"),
    Signature("Cohere", rf"tokens in the prompt cannot exceed {_L} - received {_T}",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5120"),
    Signature("a gateway", _GATEWAY,
        "413 Request Entity Too Large"),
)  # fmt: skip
"""Providers' own texts (FIELD §3), each with a sample that its pattern reads; the numbers are tokens."""

CODES = frozenset({
    "context_length_exceeded", "context_window_exceeded", "contextwindowexceedederror", "exceed_context_size_error",
    "model_context_window_exceeded", "model_max_prompt_tokens_exceeded", "request_too_large", "1261",
})  # fmt: skip
"""Error codes, error types, exception names and stop reasons that mean it without a text, in lower case."""

OTHERS = frozenset({
    "apitimeouterror", "authentication_error", "insufficient_quota", "overloaded_error", "permission_error",
    "rate_limit_error", "ratelimiterror", "resource_exhausted", "throttlingexception", "timeout_error", "timeouterror",
    "toomanyrequestsexception",
})  # fmt: skip
"""Codes of other failures, which decide against an overflow whatever the text quotes, in lower case."""

OTHER_STATUSES = frozenset((401, 402, 403, 404, 408, 429, 502, 503, 504, 529))
"""HTTP statuses of other failures: access, quota, time-outs, throttling, overload."""


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    """Compiled at the first error: at import it would cost every start 10 ms."""
    return tuple(re.compile(signature.pattern, re.IGNORECASE | re.DOTALL) for signature in SIGNATURES)


_PER_MINUTE = pattern(
    rf"(?:request too large|tokens per).{{0,300}}?\blimit:? {_L}.{{0,60}}?\brequested:? {_T}", re.IGNORECASE | re.DOTALL
)
_CODE_IN_TEXT = pattern(
    r"\b(?:" + "|".join(sorted(code for code in CODES if "_" in code)) + r"|ContextWindowExceededError)\b"
)
_OTHER_IN_TEXT = pattern(
    r"rate.?limit|too many requests|throttl|quota|overloaded|timed? ?out|per.minute|tokens per|please wait",
    re.IGNORECASE,
)
_STATUS_IN_TEXT = pattern(
    r"^\s*(\d{3})\b|\b(?:error code|status(?: code)?|http(?:/\d\.\d)?)[:= ]{1,3}(\d{3})\b", re.IGNORECASE
)

LONGEST_TEXT = 8_192
"""Characters of a text that are read, half from its start and half from its end; errors quote whole prompts."""

_LONGEST_JSON = 65_536
_MOST_PARTS = 64
_DEEPEST = 12

_SAID = ("error", "errors", "Error", "body", "message", "Message", "detail", "details", "msg", "raw", "exception")
_INNER = (
    "response", "delta", "metadata", "incomplete_details", "last_error", "cause", "validationException",
    "modelStreamErrorException",
)  # fmt: skip
"""Fields that may hold an error: those that may hold its words, and those whose words are the model's own."""

_NAMED = (
    "code",
    "Code",
    "type",
    "__type",
    "error_type",
    "stop_reason",
    "stopReason",
    "finish_reason",
    "param_code",
    "reason",
)
_STATUS = ("status_code", "status", "code", "http_status", "statusCode", "HTTPStatusCode", "original_status_code")


def read(error: object, *, status: int | None = None) -> ContextOverflow | None:
    """What an error, a response body or a text says about a request that was too long; None when it is something else.

    `error` may be the exception of any SDK, a response object, a parsed body (successful ones too: some providers
    answer 200 and say it in the stop reason) or a text. `status` is the HTTP status where the caller knows it.
    """
    if isinstance(error, ContextOverflow):
        return error
    heard = _Heard()
    heard.listen(error)
    if isinstance(status, int):
        heard.status = status
    return _judge(heard)


def _judge(heard: _Heard) -> ContextOverflow | None:
    texts, status = heard.texts, heard.status
    for text in texts:
        if found := _PER_MINUTE.search(text):
            limit, tokens = _number(found["l"]), _number(found["t"])
            return _overflow(text, limit, tokens) if limit and tokens and tokens > limit else None
    if status in OTHER_STATUSES or heard.codes & OTHERS:
        return None
    if (status is None or status >= 500) and any(map(_OTHER_IN_TEXT.search, texts)):
        return None
    best: ContextOverflow | None = None
    for text in texts:
        if (overflow := _read_text(text)) and (best is None or (best.limit is None and overflow.limit)):
            best = overflow
    if best is None and (heard.codes & CODES or any(map(_CODE_IN_TEXT.search, texts)) or status == 413):
        best = _overflow(texts[0] if texts else "the provider said that the request was too long", None, None)
    if best is not None and best.limit is None and heard.limit:
        best = _overflow(str(best), heard.limit, heard.tokens)
    if best is not None and ("request_too_large" in heard.codes or _TOO_MANY_BYTES.search(str(best))):
        best.unit = "bytes"
    return best


def _read_text(text: str) -> ContextOverflow | None:
    """The first signature in a text, preferring one that states the limit."""
    best: ContextOverflow | None = None
    for signature in _compiled():
        if found := signature.search(text):
            groups = found.groupdict()
            limit, tokens, reply = (_number(groups.get(group)) for group in "lto")
            if tokens and reply and reply < tokens:
                tokens -= reply
            if limit:
                return _overflow(text, limit, tokens)
            best = best or _overflow(text, limit, tokens)
    return best


def _overflow(text: str, limit: int | None, tokens: int | None) -> ContextOverflow:
    return ContextOverflow(text.strip()[:500], limit=limit, tokens=tokens)


def _number(digits: object) -> int | None:
    return int(digits.replace(",", "")) if isinstance(digits, str) else None


class _Heard:
    """What could be gathered from an error of unknown shape: texts, codes, status and numbers, outermost first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.codes: set[str] = set()
        self.status: int | None = None
        self.limit: int | None = None
        self.tokens: int | None = None
        self._parts = 0

    def listen(self, part: object, depth: int = 0) -> None:
        self._parts += 1
        if part is None or depth > _DEEPEST or self._parts > _MOST_PARTS:
            return
        if isinstance(part, bytes | bytearray):
            part = bytes(part[: 2 * _LONGEST_JSON]).decode("utf-8", "replace")
        if isinstance(part, str):
            self._listen_text(part, depth)
        elif isinstance(part, list | tuple):
            for item in part[:16]:
                self.listen(item, depth + 1)
        elif not isinstance(part, int | float):
            self._listen_fields(part, depth)

    def _listen_text(self, text: str, depth: int) -> None:
        """A text; JSON and events are read as such, so that a model's words are not taken for an error."""
        start = text[: _LONGEST_JSON + 1].strip()
        if start.startswith(("{", "[")) and len(start) <= _LONGEST_JSON:
            with suppress(msgspec.DecodeError, RecursionError):
                return self.listen(msgspec.json.decode(start), depth + 1)
        if start.startswith(("data:", "event:")):
            for line in start.splitlines()[-_MOST_PARTS:]:
                if line.startswith("data:"):
                    self.listen(line[5:].strip(), depth + 1)
            return None
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT // 2] + "\n" + text[-LONGEST_TEXT // 2 :]
        if self.status is None and (found := _STATUS_IN_TEXT.search(text[:512])):
            self._hear_status(int(found[1] or found[2]))
        if text.strip() and text not in self.texts:
            self.texts.append(text)
        return None

    def _listen_fields(self, part: object, depth: int) -> None:
        """A body, an exception, a response or a model of an SDK, by the fields that they have in common."""
        get = _getter(part)
        for name in _STATUS:
            self._hear_status(get(name))
        if metadata := get("ResponseMetadata"):
            self._hear_status(_getter(metadata)("HTTPStatusCode"))
        self.codes.update(_words(get))
        limit, tokens = get("n_ctx"), get("n_prompt_tokens")
        if type(limit) is int and limit > 0:
            self.limit, self.tokens = limit, tokens if type(tokens) is int and tokens > 0 else None
        for name in _SAID:
            self.listen(get(name), depth + 1)
        for name in _INNER:
            if not isinstance(inner := get(name), str | bytes):
                self.listen(inner, depth + 1)
        if isinstance(choices := get("choices"), list):
            for choice in choices[:4]:
                self.codes.update(_words(_getter(choice)))
        if isinstance(part, BaseException):
            self._listen_exception(part, depth)
        elif self.status is not None and isinstance(text := get("text"), str | bytes):
            refused = self.status >= 400
            if refused or text[:6].lstrip()[:1] in ("{", "[", "d", "e", b"{", b"[", b"d", b"e"):
                self.listen(text, depth + 1)

    def _listen_exception(self, error: BaseException, depth: int) -> None:
        """Its name, its words, and what it was raised from; what it was raised beside is another matter."""
        self.codes.add(type(error).__name__.lower())
        with suppress(Exception):
            self.listen(str(error), depth + 1)
        inner = getattr(error, "exceptions", ())
        for part in (error.__cause__, *error.args[:4], *(inner[:4] if isinstance(inner, tuple) else ())):
            self.listen(part, depth + 1)

    def _hear_status(self, value: object) -> None:
        if self.status is None and type(value) is int and 200 <= value < 600:
            self.status = value


def _getter(part: object) -> Callable[[str], object]:
    """How to ask a mapping or any object for a field; None for what it lacks, and for methods."""
    if isinstance(part, Mapping):
        return part.get

    def get(name: str) -> Any:
        with suppress(Exception):  # a property of a foreign object may raise anything
            value = getattr(part, name, None)
            return None if callable(value) else value
        return None

    return get


def _words(get: Callable[[str], object]) -> Iterator[str]:
    """Codes, types and stop reasons, which are short words or numbers, in lower case."""
    for name in _NAMED:
        value = get(name)
        if isinstance(value, str | int) and len(str(value)) < 80:
            yield str(value).lower()
