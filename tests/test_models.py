"""A model is found in every spelling, with its limits, prices and rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foldline._models
from foldline._models import DEFAULT_WINDOW
from foldline.extend import model

DATA = Path(foldline._models.__file__).with_name("_models.json")

SPELLINGS = [
    # spelling, name, provider, window, family
    ("claude-sonnet-4-5", "claude-sonnet-4-5", "anthropic", 200_000, "claude3"),
    ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "anthropic", 200_000, "claude3"),
    ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "anthropic", 200_000, "claude3"),
    ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5", "anthropic", 200_000, "claude3"),
    ("claude-4.5-sonnet", "claude-sonnet-4-5", "anthropic", 200_000, "claude3"),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "bedrock", 200_000, "claude3"),
    ("bedrock/converse/global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "bedrock", 200_000, "claude3"),
    ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", "bedrock", 1_000_000, "claude3"),
    ("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", "bedrock", 200_000, "claude3"),
    ("anthropic.claude-3-sonnet-20240229-v1:0:200k", "claude-3-sonnet", "bedrock", 200_000, "claude3"),
    ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", "vertex", 200_000, "claude3"),
    ("publishers/anthropic/models/claude-sonnet-4-5@20250929", "claude-sonnet-4-5", "vertex", 200_000, "claude3"),
    ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5", "openrouter", 200_000, "claude3"),
    ("claude-opus-4-5-20251101", "claude-opus-4-5", "anthropic", 200_000, "claude3"),
    ("claude-opus-4-5[1m]", "claude-opus-4-5", "anthropic", 1_000_000, "claude3"),
    ("claude-opus-4-20250514", "claude-opus-4-0", "anthropic", 200_000, "claude3"),
    ("claude-haiku-4-5-20251001", "claude-haiku-4-5", "anthropic", 200_000, "claude3"),
    ("claude-opus-4-7", "claude-opus-4-7", "anthropic", 1_000_000, "claude4.7"),
    ("claude-opus-5-5", "claude-opus-5-5", "anthropic", 1_000_000, "claude4.7"),
    ("claude-sonnet-5", "claude-sonnet-5", "anthropic", 1_000_000, "claude4.7"),
    ("Claude-Haiku-5.5", "claude-haiku-5-5", "anthropic", 1_000_000, "claude4.7"),
    ("claude-3.5-sonnet-latest", "claude-3-5-sonnet", "anthropic", 200_000, "claude3"),
    ("claude-3-opus-20240229", "claude-3-opus", "anthropic", 200_000, "claude3"),
    ("gpt-5.1", "gpt-5.1", "openai", 400_000, "o200k"),
    ("openai/gpt-5.1", "gpt-5.1", "openai", 400_000, "o200k"),
    ("openai:gpt-5.1-2025-11-13", "gpt-5.1", "openai", 400_000, "o200k"),
    ("gpt-5.6-sol", "gpt-5.6-sol", "openai", 1_050_000, "o200k"),
    ("gpt-5.5", "gpt-5.5", "openai", 1_050_000, "o200k"),
    ("gpt-4o-2024-08-06", "gpt-4o", "openai", 128_000, "o200k"),
    ("litellm_proxy/neulab/gpt-4o-2024-08-06", "gpt-4o", "litellm_proxy", 128_000, "o200k"),
    ("ft:gpt-4o-2024-08-06:org::id", "gpt-4o", "openai", 128_000, "o200k"),
    ("gpt-4.1-mini", "gpt-4.1-mini", "openai", 1_047_576, "o200k"),
    ("gpt-4-1106-preview", "gpt-4-turbo", "openai", 128_000, "cl100k"),
    ("gpt-4", "gpt-4", "openai", 8_192, "cl100k"),
    ("gpt-4-0613", "gpt-4", "openai", 8_192, "cl100k"),
    ("gpt-4-32k", "gpt-4-32k", "openai", 32_768, "cl100k"),
    ("azure/gpt-35-turbo", "gpt-3.5-turbo", "azure", 16_385, "cl100k"),
    ("o3", "o3", "openai", 200_000, "o200k"),
    ("o4-mini-2025-04-16", "o4-mini", "openai", 200_000, "o200k"),
    ("gemini-2.5-pro", "gemini-2.5-pro", "google", 1_048_576, "gemma"),
    ("models/gemini-2.5-pro", "gemini-2.5-pro", "google", 1_048_576, "gemma"),
    ("gemini/gemini-2.5-flash", "gemini-2.5-flash", "google", 1_048_576, "gemma"),
    ("google-gla:gemini-3-flash-preview", "gemini-3-flash-preview", "google", 1_048_576, "gemma"),
    ("projects/p/locations/l/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro", "vertex", 1_048_576, "gemma"),
    ("deepseek/deepseek-chat", "deepseek-chat", "deepseek", 1_000_000, "deepseek"),
    ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1", "deepseek", 131_072, "deepseek"),
    ("us.deepseek.r1-v1:0", "deepseek-r1", "bedrock", 131_072, "deepseek"),
    ("deepseek-r1-distill-llama-70b", "deepseek-r1-distill-llama-70b", "deepseek", 131_072, "llama"),
    ("glm-5.2", "glm-5.2", "zai", 1_000_000, "glm"),
    ("zai/glm-5.2", "glm-5.2", "zai", 1_000_000, "glm"),
    ("zai-org/GLM-4.6", "glm-4.6", "zai", 204_800, "glm"),
    ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-instruct-0905", "moonshotai", 262_144, "kimi"),
    ("accounts/fireworks/models/kimi-k2p5", "kimi-k2.5", "moonshotai", 262_144, "kimi"),
    ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-instruct", "mistral", 32_768, "mistral"),
    ("mistral:latest", "mistral-7b", "mistral", 32_768, "mistral"),
    ("mistral:7b", "mistral-7b", "mistral", 32_768, "mistral"),
    ("zai-org/glm-4.7-maas", "glm-4.7", "zai", 204_800, "glm"),
    ("mistral-large-2512", "mistral-large-2512", "mistral", 262_144, "mistral"),
    ("qwen3-coder-plus", "qwen3-coder-plus", "qwen", 1_048_576, "qwen"),
    ("qwen2.5-coder:7b", "qwen2-5-coder-7b-instruct", "qwen", 32_768, "qwen"),
    ("ollama/qwen2.5-coder:7b", "qwen2-5-coder-7b-instruct", "ollama", 32_768, "qwen"),
    ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2-5-coder-7b-instruct", "qwen", 32_768, "qwen"),
    ("bartowski/Qwen2.5-Coder-7B-Instruct-GGUF", "qwen2-5-coder-7b-instruct", "qwen", 32_768, "qwen"),
    ("/models/Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf", "qwen2-5-coder-7b-instruct", "qwen", 32_768, "qwen"),
    ("qwen/qwen3-coder:free", "qwen3-coder", "qwen", 262_144, "qwen"),
    ("qwen3:8b", "qwen3-8b", "qwen", 40_960, "qwen"),
    ("llama3.1:8b-instruct-q4_K_M", "llama-3.1-8b-instruct", "meta", 131_072, "llama"),
    ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct", "meta", 131_072, "llama"),
    ("us.meta.llama3-1-70b-instruct-v1:0", "llama-3.1-70b-instruct", "bedrock", 131_072, "llama"),
    ("accounts/fireworks/models/llama-v3p1-70b-instruct", "llama-3.1-70b-instruct", "meta", 131_072, "llama"),
    ("@cf/meta/llama-3.1-8b-instruct-fp8", "llama-3.1-8b-instruct", "meta", 131_072, "llama"),
    ("gemma3:27b", "gemma3:27b", "google", 131_072, "gemma"),
    ("phi4:14b", "phi4:14b", "microsoft", 16_384, "o200k"),
    ("gpt-oss:20b", "gpt-oss-20b", "openai", 131_072, "o200k"),
    ("openai.gpt-oss-120b-1:0", "gpt-oss-120b", "bedrock", 131_072, "o200k"),
    ("lmstudio/openai/gpt-oss-20b", "gpt-oss-20b", "lmstudio", 131_072, "o200k"),
    ("xai/grok-4-fast", "grok-4-fast", "xai", 2_000_000, "o200k"),
    ("grok-code-fast-1", "grok-code-fast-1", "xai", 256_000, "o200k"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spelling", "name", "provider", "window", "family"), SPELLINGS, ids=[row[0] for row in SPELLINGS]
)
def test_spellings(spelling, name, provider, window, family):
    found = model(spelling)
    assert found.known
    assert (found.name, found.provider, found.window, found.family) == (name, provider, window, family)
    assert model(spelling.upper() if ":" not in spelling else spelling).window == window


@pytest.mark.parametrize("tier", ["opus", "sonnet", "haiku", "fable"])
def test_the_newest_of_a_tier(tier):
    newest = model(tier)
    assert newest.known
    assert newest.window == 1_000_000
    for spelling in (f"claude-{tier}-latest", f"~anthropic/claude-{tier}-latest", f"{tier}[1m]"):
        assert model(spelling).name == newest.name
    assert model(f"openrouter/~anthropic/claude-{tier}-latest").provider == "openrouter"


@pytest.mark.parametrize(
    "name",
    [
        "my-unknown-model",
        "fake-model",
        "<synthetic>",
        "gpt-5.9",
        "gpt-7",
        "claude-opus-9",
        "",
        " ",
        "/",
        ":",
        "llama9:70b",
    ],
)
def test_unknown_models_take_the_default(name):
    found = model(name)
    assert not found.known
    assert found.name == name
    assert (found.window, found.max_input) == (DEFAULT_WINDOW, DEFAULT_WINDOW)
    assert (found.input, found.cache_read, found.cache_write, found.cache_ttl) == (0, 1, 1, 0)


def test_a_new_claude_keeps_the_rules_of_its_maker():
    found = model("claude-opus-9")
    assert (found.provider, found.family, found.binds_thinking) == ("anthropic", "claude4.7", True)


@pytest.mark.parametrize(
    ("name", "input", "output", "read", "write", "ttl", "least"),
    [
        ("claude-sonnet-4-5", 3, 15, 0.1, 1.25, 300, 1024),
        ("claude-opus-4-5", 5, 25, 0.1, 1.25, 300, 4096),
        ("claude-haiku-4-5", 1, 5, 0.1, 1.25, 300, 4096),
        ("claude-opus-5", 5, 25, 0.1, 1.25, 300, 512),
        ("claude-opus-5-5", 4, 20, 0.05, 1.25, 300, 512),
        ("claude-sonnet-5-5", 2, 10, 0.05, 1.25, 300, 1024),
        ("claude-fable-5-1", 10, 50, 0.025, 1.25, 300, 512),
        ("gpt-5.1", 1.25, 10, 0.1, 1, 300, 1024),
        ("gpt-5.6-sol", 4, 20, 0.1, 1.25, 1800, 1024),
        ("gpt-6.1-sol", 2, 10, 0.05, 1.25, 1800, 1024),
        ("gemini-2.5-pro", 1.25, 10, 0.1, 1, 300, 4096),
        ("gemini-2.5-flash", 0.3, 2.5, 0.1, 1, 300, 1024),
    ],
)
def test_prices_and_cache(name, input, output, read, write, ttl, least):
    found = model(name)
    assert (found.input, found.output) == (input, output)
    assert (found.cache_read, found.cache_write) == (read, write)
    assert (found.cache_ttl, found.min_cacheable) == (ttl, least)


def test_long_cache_and_price_cliffs():
    assert (model("claude-opus-5-5").cache_ttl_long, model("claude-opus-5-5").cache_write_long) == (3600, 2)
    assert model("claude-haiku-5-5").tiers == ((100_000, 0.5, 2.5),)
    assert model("claude-haiku-5-5").input * 5 == 0.5
    assert model("gpt-6-sol").tiers == ((272_000, 4, 15),)
    assert model("gemini-2.5-pro").tiers == ((200_000, 2.5, 15),)
    assert model("claude-opus-5-5").tiers == ()


@pytest.mark.parametrize(
    ("name", "binds", "compaction"),
    [
        ("claude-fable-5", False, "anthropic-on-demand"),
        ("claude-fable-5-1", True, "anthropic-on-demand"),
        ("claude-opus-5", False, "anthropic-on-demand"),
        ("claude-opus-5-5", True, "anthropic-on-demand"),
        ("us.anthropic.claude-opus-5-5", True, "anthropic-threshold"),
        ("openrouter/anthropic/claude-opus-5.5", True, ""),
        ("claude-sonnet-5", False, "anthropic-on-demand"),
        ("claude-sonnet-5-5", True, "anthropic-on-demand"),
        ("claude-mythos-5-2", True, "anthropic-on-demand"),
        ("claude-sonnet-4-5", False, ""),
        ("gpt-5.1", False, "openai-compact"),
        ("azure/gpt-5.1", False, ""),
        ("gpt-4o", False, ""),
        ("gpt-oss-120b", False, ""),
        ("gemini-2.5-pro", False, ""),
    ],
)
def test_rules(name, binds, compaction):
    assert (model(name).binds_thinking, model(name).compaction) == (binds, compaction)


def test_a_window_is_three_numbers():
    found = model("gpt-5.1")
    assert (found.window, found.max_input, found.max_output) == (400_000, 272_000, 128_000)


def test_a_host_may_cut_the_window():
    assert model("github-copilot/gpt-5.4").window < model("gpt-5.4").window
    assert model("openrouter/anthropic/claude-sonnet-4.5").window == 1_000_000


# --- hostile input, and the data file ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [None, 5, b"gpt-5", [], {}, object(), "x" * 10_000_000, "-" * 100_000, "a/" * 100_000, "\ud800", "ft:", "arn:"],
)
def test_anything_can_be_asked(name):
    assert not model(name).known


@given(st.text(), st.text())
def test_any_name_has_limits(left, right):
    for name in (left, f"{left}/{right}", f"{left}:{right}", f"claude-{left}", f"{left}@{right}", f"{left}[{right}m]"):
        found = model(name)
        assert 0 < found.max_input <= found.window or name.endswith("[0m]")


def test_the_data_file_is_whole():
    text = DATA.read_text()
    data = json.loads(text)
    assert len(text) < 200_000
    assert "http" not in text
    assert len(data["models"]) > 500
    rows = [*data["models"].values(), *(row for host in data["hosts"].values() for row in host.values())]
    for name, window, max_input, max_output in (tuple([*row, 0, 0][:4]) for row in rows):
        assert name
        assert window > 0
        assert 0 <= max_input < window
        assert 0 <= max_output <= window
    assert all(target in data["models"] for target in data["aliases"].values())
    assert list(data["models"]) == sorted(data["models"])
    assert not data["aliases"].keys() & data["models"].keys()


def test_every_canonical_name_finds_its_own_row():
    lost = [
        key
        for key, row in json.loads(DATA.read_text())["models"].items()
        if model(row[0]).window != row[1] and "[" not in row[0]
    ]
    assert not lost
