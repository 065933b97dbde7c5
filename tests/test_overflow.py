"""Overflow errors are told from everything else, with the numbers that they state."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import ContextOverflow
from foldline._overflow import SIGNATURES, read

OPENAI = "This model's maximum context length is 128000 tokens. However, your messages resulted in 149767 tokens. Please reduce the length of the messages."
VLLM = next(signature.sample for signature in SIGNATURES if signature.provider == "vLLM")
CLAUDE = "prompt is too long: 274468 tokens > 200000 maximum"
MAX_TOKENS = "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again"


def openai(message: str, code: Any = "context_length_exceeded", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, **more}}


def anthropic(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


TOO_LONG: list[tuple[str, object, int | None, int | None, int | None]] = [
    # what, error, status, limit, tokens
    ("Anthropic", anthropic(CLAUDE), 400, 200000, 274468),
    ("Anthropic with reply", anthropic(MAX_TOKENS), 400, 200000, 188059),
    (
        "Anthropic stop reason",
        {"type": "message", "stop_reason": "model_context_window_exceeded", "content": []},
        200,
        None,
        None,
    ),
    ("Anthropic bytes", anthropic("Request exceeds the maximum size", "request_too_large"), 413, None, None),
    ("OpenAI chat", openai(OPENAI), 400, 128000, 149767),
    (
        "OpenAI Responses",
        openai("Your input exceeds the context window of this model. Please adjust your input and try again."),
        400,
        None,
        None,
    ),
    (
        "OpenAI response.failed",
        {
            "type": "response.failed",
            "response": {
                "status": "failed",
                "error": {"code": "context_length_exceeded", "message": "Your input exceeds"},
            },
        },
        200,
        None,
        None,
    ),
    (
        "OpenAI TPM",
        openai(
            "Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 200000, Requested 480002. Visit …",
            "rate_limit_exceeded",
            type="tokens",
        ),
        429,
        200000,
        480002,
    ),
    ("Azure", openai(OPENAI, "context_length_exceeded", innererror={"code": "x"}), 400, 128000, 149767),
    (
        "Gemini",
        {
            "error": {
                "code": 400,
                "message": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
                "status": "INVALID_ARGUMENT",
            }
        },
        400,
        1048575,
        1196265,
    ),
    (
        "Gemini without count",
        "The input token count exceeds the maximum number of tokens allowed (1048575).",
        400,
        1048575,
        None,
    ),
    (
        "Bedrock Claude",
        {"__type": "ValidationException", "message": "The model returned the following errors: " + CLAUDE},
        400,
        200000,
        274468,
    ),
    ("Bedrock Claude, short", {"message": "Input is too long for requested model."}, 400, None, None),
    (
        "Bedrock Nova, mid-stream",
        {
            "validationException": {
                "message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."
            }
        },
        200,
        None,
        None,
    ),
    ("Bedrock Llama", {"message": "This model's maximum context length is 131072 tokens."}, 200, 131072, None),
    (
        "OpenRouter",
        {
            "error": {
                "code": 400,
                "message": "This endpoint's maximum context length is 16384 tokens. However, you requested about 26265 tokens (26255 of text input, 10 in the output). Please reduce the length of either one, or use the context-compression plugin…",
            }
        },
        400,
        16384,
        26255,
    ),
    (
        "OpenRouter by its metadata",
        {
            "error": {
                "code": 400,
                "message": "Provider returned error",
                "metadata": {"error_type": "context_length_exceeded"},
            }
        },
        400,
        None,
        None,
    ),
    ("Groq", openai("Please reduce the length of the messages or completion."), 400, None, None),
    (
        "Groq TPM",
        openai(
            "Request too large for model `llama` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9512, please reduce your message size",
            "rate_limit_exceeded",
        ),
        413,
        6000,
        9512,
    ),
    (
        "xAI",
        {
            "code": "Client specified an invalid argument",
            "error": "This model's maximum prompt length is 131072 but the request contains 149617 tokens.",
        },
        400,
        131072,
        149617,
    ),
    (
        "Mistral",
        {
            "object": "error",
            "type": "invalid_request_invalid_args",
            "code": "3051",
            "message": "Prompt contains 159202 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        },
        400,
        131072,
        159202,
    ),
    (
        "DeepSeek",
        openai(
            "This model's maximum context length is 65536 tokens. However, you requested 70123 tokens (70123 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
            "invalid_request_error",
        ),
        400,
        65536,
        70123,
    ),
    (
        "older vLLM",
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce…",
            "type": "BadRequestError",
        },
        400,
        8192,
        8000,
    ),
    ("vLLM", {"object": "error", "message": VLLM, "type": "BadRequestError", "code": 400}, 400, 40960, 40961),
    ("Cerebras 413", "413 status code (no body)", None, None, None),
    ("413 without a body", "", 413, None, None),
    ("a proxy's page", "<html><head><title>413 Request Entity Too Large</title></head></html>", None, None, None),
    (
        "Together",
        {
            "error": {
                "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 512 `max_new_tokens`"
            }
        },
        422,
        8193,
        8000,
    ),
    (
        "llama.cpp",
        {
            "error": {
                "code": 400,
                "type": "exceed_context_size_error",
                "message": "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
                "n_prompt_tokens": 9412,
                "n_ctx": 8192,
            }
        },
        400,
        8192,
        9412,
    ),
    (
        "llama.cpp, older",
        {
            "error": {
                "code": 400,
                "type": "exceed_context_size_error",
                "message": "the request exceeds the available context size. try increasing it",
                "n_prompt_tokens": 9412,
                "n_ctx": 8192,
            }
        },
        400,
        8192,
        9412,
    ),
    (
        "LM Studio",
        {
            "error": "Trying to keep the first 5210 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length"
        },
        400,
        4096,
        5210,
    ),
    (
        "Ollama's log",
        'level=WARN msg="truncating input prompt" limit=2050 prompt=8707 keep=4 new=2050',
        None,
        2050,
        8707,
    ),
    ("Ollama embeddings", {"error": "the input length exceeds the context length"}, 400, None, None),
    (
        "Venice",
        {"error": "The input (35034 tokens) is longer than the model's context length (32768 tokens)."},
        400,
        32768,
        35034,
    ),
    (
        "Copilot",
        openai("prompt token count of 140123 exceeds the limit of 128000", "model_max_prompt_tokens_exceeded"),
        400,
        128000,
        140123,
    ),
    (
        "Kimi",
        openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", None),
        400,
        262144,
        291351,
    ),
    (
        "MiniMax",
        {"base_resp": {}, "error": {"message": "invalid params, context window exceeds limit (2013)"}},
        400,
        None,
        None,
    ),
    ("Zhipu", {"error": {"code": "1261", "message": "Prompt exceeds max length"}}, 400, None, None),
    (
        "z.ai stop reason",
        {"choices": [{"finish_reason": "model_context_window_exceeded", "message": {"content": ""}}]},
        200,
        None,
        None,
    ),
    (
        "a text",
        "Error code: 400 - {'error': {'message': \"" + OPENAI + "\", 'code': 'context_length_exceeded'}}",
        None,
        128000,
        149767,
    ),
    ("Claude Code", "API Error: 400 Prompt is too long", None, None, None),
    (
        "LiteLLM over Anthropic",
        "litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - "
        + json.dumps(anthropic(CLAUDE)),
        400,
        200000,
        274468,
    ),
    (
        "JSON in a message in JSON",
        openai(json.dumps(openai(json.dumps(anthropic(CLAUDE)), None)), None),
        400,
        200000,
        274468,
    ),
    (
        "events",
        'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"x"}}}\n\n',
        200,
        None,
        None,
    ),
    ("with separators", "prompt is too long: 274,468 tokens > 200,000 maximum", 400, 200000, 274468),
]

OTHERS: list[tuple[str, object, int | None]] = [
    (
        "429",
        openai(
            "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 200000, Used 199000, Requested 4000. Please try again in 1s.",
            "rate_limit_exceeded",
        ),
        429,
    ),
    ("429 as text", "429 Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2500", None),
    (
        "429 Anthropic",
        anthropic(
            "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
            "rate_limit_error",
        ),
        429,
    ),
    ("429 long context", anthropic("Extra usage is required for long context requests.", "rate_limit_error"), 429),
    ("429 without a body", "429 status code (no body)", None),
    (
        "Bedrock throttling",
        {"__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again."},
        400,
    ),
    ("Bedrock throttling as text", "ThrottlingException: Too many tokens, please wait before trying again.", None),
    ("throttling that quotes an overflow", anthropic(CLAUDE, "rate_limit_error"), 429),
    ("529", anthropic("Overloaded", "overloaded_error"), 529),
    ("overloaded without a status", anthropic("Overloaded", "overloaded_error"), None),
    (
        "Gemini quota",
        {
            "error": {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "You exceeded your current quota: input_token_count, limit: 250000",
            }
        },
        429,
    ),
    ("quota", openai("You exceeded your current quota, please check your plan", "insufficient_quota"), 429),
    ("requests per day", openai("Limit 3, Used 3, Requested 1 on requests per min (RPM)", "rate_limit_exceeded"), 429),
    ("400 without a body", "400 status code (no body)", None),
    ("400 without a body, bytes", b"", 400),
    ("Vertex without a reason", "Google request failed with status code 400", 400),
    (
        "reply too long",
        anthropic(
            "max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5"
        ),
        400,
    ),
    (
        "reply too long, OpenAI",
        openai("max_tokens is too large: 200000. This model supports at most 16384 completion tokens", "invalid_value"),
        400,
    ),
    (
        "image too large",
        anthropic(
            "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
        ),
        400,
    ),
    (
        "broken pair",
        anthropic("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"),
        400,
    ),
    (
        "bound thinking",
        anthropic("Invalid `signature` in `thinking` block. The block is bound to a different conversation"),
        400,
    ),
    ("no access", anthropic("invalid x-api-key", "authentication_error"), 401),
    ("unknown model", openai("The model `gpt-9` does not exist", "model_not_found"), 404),
    ("time-out", "Request timed out.", None),
    ("gateway time-out", "<html>504 Gateway Time-out</html>", 504),
    ("server error", openai("The server had an error while processing your request", "server_error"), 500),
    ("a reply that talks about it", {"stop_reason": "end_turn", "content": [{"type": "text", "text": CLAUDE}]}, 200),
    (
        "a chat reply that talks about it",
        json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": OPENAI}}]}),
        200,
    ),
    ("a reply that was cut", {"stop_reason": "max_tokens", "content": []}, 200),
    ("finished by length", {"choices": [{"finish_reason": "length"}]}, 200),
    (
        "events that talk about it",
        'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":'
        + json.dumps(CLAUDE)
        + "}}\n\n",
        200,
    ),
    ("Ollama's reply that talks about it", {"response": CLAUDE, "done": True}, 200),
    ("a delta that talks about it", {"type": "response.output_text.delta", "delta": CLAUDE}, 200),
    ("nothing", None, None),
    ("a number", 42, None),
    ("an empty body", {}, 400),
    ("a list", [], 400),
]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.provider)
def test_every_signature_reads_its_sample(signature):
    assert isinstance(read(signature.sample, status=400), ContextOverflow)
    assert isinstance(read(signature.sample), ContextOverflow)
    assert isinstance(read(openai(signature.sample, None), status=400), ContextOverflow)
    if "<l>" in signature.pattern:
        assert read(signature.sample).limit
    for status in (429, 529, 503, 504):
        assert read(signature.sample, status=status) is None


@pytest.mark.parametrize(("what", "error", "status", "limit", "tokens"), TOO_LONG, ids=[row[0] for row in TOO_LONG])
def test_too_long(what, error, status, limit, tokens):
    found = read(error, status=status)
    assert isinstance(found, ContextOverflow)
    assert (found.limit, found.tokens) == (limit, tokens)
    assert len(str(found)) <= 500


@pytest.mark.parametrize(("what", "error", "status"), OTHERS, ids=[row[0] for row in OTHERS])
def test_something_else(what, error, status):
    assert read(error, status=status) is None


# --- the exceptions of the SDKs, by their shape --------------------------------------------------------------------


class Response:
    def __init__(self, status_code: int, body: object) -> None:
        self.status_code = status_code
        self.text = json.dumps(body)

    def json(self) -> object:
        raise AssertionError("not called")


class Unread:
    status_code = 400

    @property
    def text(self) -> str:
        raise RuntimeError("the response was not read")


class BadRequestError(Exception):
    """As openai and anthropic raise it."""

    def __init__(self, body: dict[str, Any], status: int = 400) -> None:
        super().__init__(f"Error code: {status} - {body}")
        self.status_code = status
        self.body = body.get("error", body)
        self.response = Response(status, body)
        self.message = str(self)


class RateLimitError(BadRequestError):
    pass


class ClientError(Exception):
    """As boto raises it."""

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(f"An error occurred ({code}) when calling the ConverseStream operation: {message}")
        self.response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}


class GoogleError(Exception):
    """As google-genai raises it: `status` is a word and `code` the number."""

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(f"{code} {status}. {message}")
        self.code, self.status, self.message = code, status, message
        self.details = {"error": {"code": code, "status": status, "message": message}}


class HTTPStatusError(Exception):
    def __init__(self, response: object) -> None:
        super().__init__("Client error '400 Bad Request' for url")
        self.response = response


def raised(error: Exception, cause: BaseException | None = None, context: BaseException | None = None) -> Exception:
    error.__cause__, error.__context__ = cause, context
    return error


GEMINI = "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."


@pytest.mark.parametrize(
    ("error", "limit", "tokens"),
    [
        (BadRequestError(openai(OPENAI)), 128000, 149767),
        (BadRequestError(anthropic(CLAUDE)), 200000, 274468),
        (BadRequestError(anthropic("Request exceeds the maximum size", "request_too_large"), 413), None, None),
        (
            RateLimitError(openai("Request too large … on tokens per min (TPM): Limit 200000, Requested 480002"), 429),
            200000,
            480002,
        ),
        (ClientError("ValidationException", "The model returned the following errors: " + CLAUDE, 400), 200000, 274468),
        (GoogleError(400, "INVALID_ARGUMENT", GEMINI), 1048575, 1196265),
        (HTTPStatusError(Response(400, anthropic(CLAUDE))), 200000, 274468),
        (raised(RuntimeError("the model call failed"), cause=BadRequestError(anthropic(CLAUDE))), 200000, 274468),
        (ExceptionGroup("calls", [BadRequestError(openai(OPENAI))]), 128000, 149767),
        (Response(200, {"stop_reason": "model_context_window_exceeded"}), None, None),
        (type("ContextWindowExceededError", (Exception,), {})("no words"), None, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_exceptions(error, limit, tokens):
    found = read(error)
    assert isinstance(found, ContextOverflow)
    assert (found.limit, found.tokens) == (limit, tokens)


@pytest.mark.parametrize(
    "error",
    [
        RateLimitError(openai("Rate limit reached on tokens per min (TPM): Limit 200000, Used 1, Requested 4"), 429),
        RateLimitError(openai("slow down"), 429),
        ClientError("ThrottlingException", "Too many tokens, please wait before trying again.", 429),
        ClientError("ValidationException", "messages: roles must alternate", 400),
        GoogleError(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        HTTPStatusError(Unread()),
        HTTPStatusError(Response(400, {})),
        raised(TimeoutError(), context=BadRequestError(anthropic(CLAUDE))),
        raised(ConnectionError("refused")),
        KeyboardInterrupt(),
        type("GenerateContentResponse", (), {"text": CLAUDE, "candidates": []})(),
        type("PlainResponse", (), {"status_code": 200, "text": CLAUDE})(),
        ValueError(CLAUDE[:10]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_exceptions(error):
    assert read(error) is None


# --- hostile input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "9" * 10_000_000,
        "prompt is too long: " * 500_000,
        "maximum context length is 1 tokens" * 300_000,
        "{" * 10_000_000,
        '{"error":' * 1_000_000,
        "request too large limit " * 400_000,
        "data: {\n" * 1_000_000,
    ],
    ids=["letters", "digits", "anthropic", "openai", "braces", "nested", "per minute", "events"],
)
def test_a_huge_text_is_read_at_once(text):
    started = time.process_time()
    read(text, status=400)
    read({"error": {"message": text}}, status=400)
    assert time.process_time() - started < 2


def test_a_huge_text_keeps_its_ends():
    assert read(CLAUDE + "x" * 10_000_000).tokens == 274468
    assert read("x" * 10_000_000 + CLAUDE).tokens == 274468


def test_an_overflow_is_itself():
    error = ContextOverflow("too long", limit=1, tokens=2)
    assert read(error) is error


def test_stop_reasons_of_sdk_objects():
    choice = type("Choice", (), {"finish_reason": "model_context_window_exceeded"})()
    assert read(type("ChatCompletion", (), {"choices": [choice]})())
    assert read(type("Message", (), {"stop_reason": "model_context_window_exceeded", "content": []})())
    assert read(type("Message", (), {"stop_reason": "end_turn", "content": []})()) is None


def test_a_loop_ends():
    body: dict[str, Any] = {"message": CLAUDE}
    body["error"] = body
    assert read(body).limit == 200000
    error = ValueError("nothing")
    error.args = (error,)
    assert read(error) is None


bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "status", "n_ctx", "choices", "args", "type"]) | st.text(),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(bodies, st.none() | st.integers())
def test_anything_can_be_read(body, status):
    read(body, status=status)
    read(ValueError(body), status=status)
