"""What is known of a model, for a model name as anyone spells it.

Windows, prices and cache prices are facts that `scripts/build_models.py` bakes from genai-prices and a models.dev
snapshot into `_models.json`, which is read when first asked for. They are baked, not imported, because genai-prices
needs pydantic and half a second, and `foldline context status` must know a window without any extra; where it is
installed, what a call cost is counted by its prices (`_economics`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Any, Literal

import msgspec
from msgspec import Struct

from foldline._patterns import pattern

Family = Literal[
    "o200k", "claude3", "claude4.7", "gemma", "llama", "qwen", "deepseek", "mistral", "glm", "kimi", "cl100k"
]
Compaction = Literal["", "anthropic-on-demand", "anthropic-threshold", "openai-compact"]

DEFAULT_WINDOW = 128_000
"""Tokens that an unknown model is taken to hold: what most models of the last two years hold at least."""

DEFAULT_TTL = 300
"""Seconds that a cached prefix is taken to live where a provider caches and does not say: what Anthropic states."""


class Model(Struct, frozen=True, omit_defaults=True):
    """A model's limits, prices and rules; 0 stands for "not stated" in `max_output` and the prices."""

    name: str
    """The canonical name, or the name as given where the model is unknown."""
    provider: str = ""
    """Who serves it where the spelling says so, else who made it, else empty."""
    known: bool = False
    window: int = DEFAULT_WINDOW
    """Tokens that request and reply share."""
    max_input: int = DEFAULT_WINDOW
    """Tokens of the request alone."""
    max_output: int = 0
    """Tokens of the reply, reasoning included."""
    input: float = 0.0
    """US dollars per million tokens of the request."""
    output: float = 0.0
    """US dollars per million tokens of the reply."""
    tiers: tuple[tuple[int, float, float], ...] = ()
    """`(above, input, output)`: a request with more than `above` tokens pays these prices for all of its tokens."""
    cache_read: float = 1.0
    """Price of a cached token, as a multiple of `input`; 1.0 where nothing is saved."""
    cache_write: float = 1.0
    """Price of a token that enters the cache, as a multiple of `input`."""
    cache_write_long: float = 1.0
    """The same for an entry that lives `cache_ttl_long`."""
    cache_ttl: int = 0
    """Seconds until an unused prefix is cold; 0 where the provider does not cache."""
    cache_ttl_long: int = 0
    """Seconds of the longer life that can be asked for; 0 where there is none."""
    min_cacheable: int = 0
    """Tokens below which a prefix is not cached."""
    binds_thinking: bool = False
    """Whether a thinking block is rejected once anything before it was edited (preserved thinking)."""
    max_bytes: int = 0
    """Bytes of a whole request; 0 where no cap is known."""
    max_images: int = 0
    """Pictures of a whole request; 0 where no cap is known."""
    compaction: Compaction = ""
    """The compaction that the server offers: the best where it offers several."""
    family: Family = "o200k"
    """The tokenizer family; the commonest one where it is not known."""


def model(name: str) -> Model:
    """The model that `name` means, in any provider's spelling; an unknown one has `known=False` and the defaults."""
    return _find(name[:_LONGEST_NAME] if isinstance(name, str) else "")


def warn_of_unknown(model: Model) -> None:
    """Warns, in the place where a `Compactor` was made, of a model that nobody knows, and says what is assumed of it."""
    if model.known:
        return
    from warnings import warn

    assumed = f"a window of {model.window:,} tokens is assumed; state another by window="
    warn(f"unknown model {model.name!r}{nearest(model.name)}: {assumed}", UserWarning, stacklevel=3)


def nearest(name: str) -> str:
    """A question after the model whose name is nearest to one that nobody knows; empty where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(key_of(name), _data().models, 1)
    return f" (did you mean {_data().models[near[0]][0]}?)" if near else ""


# --- spellings ---------------------------------------------------------------------------------------------------

_LONGEST_NAME = 512

_HOSTS = {
    **dict.fromkeys(("bedrock", "bedrock_converse", "bedrock-converse", "converse", "amazon-bedrock"), "bedrock"),
    **dict.fromkeys(("vertex", "vertex_ai", "vertex_ai_beta", "google-vertex", "google-vertex-anthropic"), "vertex"),
    **dict.fromkeys(("azure", "azure_ai", "azure-openai", "azure-openai-responses", "azure-cognitive"), "azure"),
    **dict.fromkeys(("github-copilot", "github_copilot", "copilot"), "github-copilot"),
    **dict.fromkeys(("ollama", "ollama_chat", "ollama-cloud"), "ollama"),
    **dict.fromkeys(("lmstudio", "lm_studio", "lm-studio"), "lmstudio"),
    **dict.fromkeys(("vllm", "hosted_vllm"), "vllm"),
    **dict.fromkeys(("llamacpp", "llama-cpp", "llama.cpp", "llama_cpp", "llamafile"), "llama.cpp"),
    **dict.fromkeys(("together", "together_ai", "togetherai"), "together"),
    **dict.fromkeys(("fireworks", "fireworks_ai", "fireworks-ai"), "fireworks"),
    **dict.fromkeys(("openrouter", "groq", "cerebras", "deepinfra", "novita", "databricks", "replicate"), ""),
    **dict.fromkeys(("cloudflare", "sambanova", "baseten", "nebius", "litellm_proxy", "vercel_ai_gateway"), ""),
    **dict.fromkeys(("openai", "openai-responses", "openai-chat", "openai-codex", "text-completion-openai"), "openai"),
    **dict.fromkeys(("google", "gemini", "google-gla", "google_ai_studio"), "google"),
    **dict.fromkeys(("xai", "x-ai"), "xai"),
    **dict.fromkeys(("moonshot", "moonshotai", "kimi"), "moonshotai"),
    **dict.fromkeys(("zai", "z-ai", "z.ai", "zhipuai"), "zai"),
    **dict.fromkeys(("mistral", "mistralai"), "mistral"),
    **dict.fromkeys(("anthropic", "deepseek", "minimax", "cohere", "perplexity", "huggingface"), ""),
}
"""Words before a `/` or a `:` that say who serves the model, and the name that we give it (empty: the same)."""

_BEDROCK = re.compile(
    r"^(?:(?:us|eu|apac|ap|jp|au|ca|sa|me|il|global|us-gov)\.)?"
    r"(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|google|moonshot|moonshotai|minimax|zai|nvidia"
    r"|writer)"
    r"\.(?=[a-z])"
)
_REVISION = pattern(r"-v?\d{1,2}(?::[\dk]{1,5}){1,2}$|-v\d{1,2}$")
_TAG = pattern(r"\d|latest$|instruct|text|v\d")
_WINDOW_SUFFIX = re.compile(r"\[(\d{1,4})([km])\]$")
_CLAUDE = re.compile(r"^claude-(\d{1,2}(?:-\d{1,2})?)-(opus|sonnet|haiku|fable|mythos)(?=-|$)")
_CLAUDE_TIER_FIRST = re.compile(r"^claude-(opus|sonnet|haiku)-(3(?:-\d{1,2})?)(?=-|$)")
_FUSED = re.compile(r"^(llama|qwen|gemma|phi|glm|gpt)-?v?(\d)")
_SHED = re.compile(
    r"-(?:20\d\d-?[01]\d-?[0-3]\d|\d{4}|v\d{1,2}(?:-\d)?(?:-\d+k)?"
    r"|latest|preview|exp|experimental|beta|default|free|batch|nitro|floor|exacto|online|extended|fast|turbo|highspeed"
    r"|thinking|reasoning|non|minimal|none|low|medium|high|xhigh|max|instruct|chat|it|hf|text|original|tee|cloud|maas"
    r"|gguf|mlx|awq|gptq|exl2|fp4|fp8|fp16|bf16|f16|int4|int8|[2-8]bit|nvfp4|mxfp4|dynamic|ud|imatrix"
    r"|i?q\d(?:-[0-9ksmlx]{1,3}){0,3})$"
)
"""A last word that does not change which model is meant: a date, a revision, a service class, a quantization."""


def key_of(name: str) -> str:
    """The name without host, maker and punctuation: what all spellings of one model have in common."""
    return _read(name)[1]


def _read(name: str) -> tuple[str, str, int]:
    """Host, key and the window in tokens that the name itself states (0 where it states none)."""
    text = name.strip().lower()
    host, window = "", 0
    if stated := _WINDOW_SUFFIX.search(text):
        window = int(stated[1]) * (1_000 if stated[2] == "k" else 1_000_000)
        text = text[: stated.start()]
    if text.startswith("arn:"):
        host, text = "bedrock", text.rpartition("/")[2]
    if text.startswith("ft:"):
        host, text = "openai", text.split(":")[1]
    prefix, colon, rest = text.partition(":")
    if colon and prefix in _HOSTS and not _TAG.match(rest):
        host, text = _HOSTS[prefix] or prefix, rest
    *path, last = [part for part in text.split("/") if part] or [""]
    if path and not host and path[0].lstrip("~@") in _HOSTS:
        first = path[0].lstrip("~@")
        host = _HOSTS[first] or first
    host = host or ("vertex" if "publishers" in path else "")
    if dotted := _BEDROCK.match(last):
        host, last = host or "bedrock", _REVISION.sub("", last[dotted.end() :])
        last = f"deepseek-{last}" if re.match(r"r1|v3", last) else last
    if "@" in last.lstrip("@"):
        host, last = host or "vertex", last.lstrip("@").partition("@")[0]
    return host, _plain(last), window


def _plain(last: str) -> str:
    """The key of a name's last path segment."""
    text = re.sub(r"[^a-z0-9]+", "-", last).strip("-")
    for maker in ("anthropic-", "meta-", "openai-", "zai-", "mistralai-"):
        text = text.removeprefix(maker)
    text = re.sub(r"(?<=\d)p(?=\d)", "-", text) if text.startswith(("llama", "qwen", "glm", "kimi")) else text
    text = _FUSED.sub(r"\1\2", text)
    if (older := _CLAUDE.match(text)) and not older[1].startswith(("1", "2", "3")):
        text = f"claude-{older[2]}-{older[1]}{text[older.end() :]}"
    if newer := _CLAUDE_TIER_FIRST.match(text):
        text = f"claude-{newer[2]}-{newer[1]}{text[newer.end() :]}"
    return re.sub(r"^(claude-[a-z]+-\d)-0(?=-|$)", r"\1", text)


# --- what the name alone tells -------------------------------------------------------------------------------------

_MAKERS: tuple[tuple[str, str, Family], ...] = (
    (r"deepseek.*distill-(?:llama)", "deepseek", "llama"),
    (r"deepseek.*distill-(?:qwen)", "deepseek", "qwen"),
    (r"claude|opus$|sonnet$|haiku$|fable$|mythos$", "anthropic", "claude3"),
    (r"gpt4(?:-turbo|-32k|-vision|-\d{4}|$)|gpt3-?5", "openai", "cl100k"),
    (r"gpt|o[1-9](?:-|$)|chatgpt|codex|davinci|computer-use", "openai", "o200k"),
    (r"gemini|gemma|codegemma|learnlm|medgemma", "google", "gemma"),
    (r"llama|codellama|hermes", "meta", "llama"),
    (r"qwen|qwq|qvq|codeqwen|tongyi", "qwen", "qwen"),
    (r"deepseek", "deepseek", "deepseek"),
    (r"mistral|mixtral|codestral|devstral|ministral|magistral|pixtral|voxtral|open-mi|leanstral", "mistral", "mistral"),
    (r"glm|chatglm|codegeex", "zai", "glm"),
    (r"kimi|moonshot", "moonshotai", "kimi"),
    (r"grok", "xai", "o200k"),
    (r"nova-|titan", "amazon", "o200k"),
    (r"command|c4ai|aya", "cohere", "o200k"),
    (r"minimax|abab", "minimax", "o200k"),
    (r"muse-", "meta", "o200k"),
    (r"phi", "microsoft", "o200k"),
    (r"sonar", "perplexity", "o200k"),
    (r"granite", "ibm", "o200k"),
    (r"(?:llama-?\d?-?)?nemotron", "nvidia", "o200k"),
)
"""How a key begins, who made such a model, and its tokenizer family."""

_CAPS = {
    "anthropic": (32_000_000, 100),
    "bedrock": (20_000_000, 20),
    "vertex": (30_000_000, 0),
    "openai": (50_000_000, 500),
}
"""Bytes and pictures that a provider takes in one request, as each states them for its own API."""

_CLAUDE_VERSION = re.compile(r"^claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d{1,2}))?(?=-|$)")


def _by_name(key: str, host: str) -> dict[str, Any]:
    """Maker, tokenizer family, and the rules that follow versions and so hold for models newer than our data."""
    maker, family = next(((m, f) for pattern, m, f in _MAKERS if re.match(pattern, key)), ("", "o200k"))
    provider = host or maker
    facts: dict[str, Any] = {"provider": provider, "family": family}
    facts["max_bytes"], facts["max_images"] = _CAPS.get(provider, (0, 0))
    if maker == "anthropic":
        facts |= _claude(key, provider)
    elif maker == "openai" and provider == "openai" and re.match(r"gpt(?:[5-9]|\d\d)(?:-|$)|o[34]|codex", key):
        facts["compaction"] = "openai-compact"
    return facts


def _claude(key: str, provider: str) -> dict[str, Any]:
    """Claude's rules by tier and version (FIELD §1); Haiku 5.5 is taken to bind, which costs less than an error."""
    named = _CLAUDE_VERSION.match(key)
    tier, version = (named[1], (int(named[2]), int(named[3] or 0))) if named else ("", (3, 0))
    facts: dict[str, Any] = {"family": "claude4.7" if version >= (4, 7) else "claude3"}
    facts["binds_thinking"] = tier == "mythos" or version >= ((5, 1) if tier == "fable" else (5, 5))
    if version >= (4, 6):
        offers = {"anthropic": "anthropic-on-demand", "bedrock": "anthropic-threshold"}
        facts["compaction"] = offers.get(provider, "")
    return facts


# --- what is baked in ----------------------------------------------------------------------------------------------


_Row = list[Any]
"""One model of the data file: fields of `Model` in this order, without trailing defaults."""

_FIELDS = (
    "name", "window", "max_input", "max_output", "input", "output", "tiers",
    "cache_read", "cache_write", "cache_write_long", "cache_ttl", "cache_ttl_long", "min_cacheable",
)  # fmt: skip


class _Data(Struct, frozen=True):
    """The data file: rows by key, other keys for the same row, rows of hosts that differ, windows of open families."""

    models: dict[str, _Row]
    aliases: dict[str, str]
    hosts: dict[str, dict[str, _Row]]
    families: dict[str, int]


@cache
def _data() -> _Data:
    return msgspec.json.decode(get_data(__package__, "_models.json") or b"", type=_Data)


def keeps_reasoning(name: str) -> bool:
    """Whether what a model reasoned is kept when the user speaks again: of OpenAI's GPT-5.6 it was in 20 of 20 turns and of
    5.5 in 3 of 11; Anthropic says it of Opus from 4.5 and of its others from 4.6."""
    named = _KEEPING.search(name)
    if named is None:
        return False
    kind, major, minor = named[1], int(named[2]), int(named[3] or 0)
    return (major, minor) >= ((5, 6) if kind == "gpt" else (4, 5) if kind == "opus" else (4, 6))


_KEEPING = re.compile(r"(gpt|opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)")


@lru_cache(maxsize=1024)
def _find(name: str) -> Model:
    host, key, window = _read(name)
    row = _row(key, host)
    facts = _by_name(_data().aliases.get(key, key) if row is None else key_of(row[0]), host)
    if row is None:
        size = window or family_window(key, _data().families)
        if size:
            facts |= {"window": size, "max_input": size, "known": True}
        return Model(name=name, **facts)
    stated = dict(zip(_FIELDS, row))
    stated["max_input"] = min(stated.get("max_input") or stated["window"], stated["window"])
    if window:
        stated |= {"window": window, "max_input": window}
    return msgspec.convert({"known": True, **facts, **stated}, Model)


def _row(key: str, host: str) -> _Row | None:
    """The row for a key, shedding last words that do not matter until one is found."""
    data = _data()
    local = data.hosts.get(host, {})
    while key:
        for spelled in (key, f"{key}-instruct"):
            spelled = data.aliases.get(spelled, spelled)
            if row := local.get(spelled) or data.models.get(spelled):
                return row
        shorter = _SHED.sub("", key)
        if shorter == key:
            return None
        key = shorter
    return None


def family_window(key: str, families: Mapping[str, int]) -> int:
    """Tokens that an open model of this family and version holds, whatever its size; 0 for an unknown family."""
    words = key.split("-")
    for end in range(len(words), 0, -1):
        follows_version = end < len(words) and words[end].isdigit() and len(words[end]) < 4
        if not follows_version and (window := families.get("-".join(words[:end]))):
            return window
    return 0
