"""Settings: one file in TOML, YAML or JSON, overridden by environment variables, decoded strictly."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from foldline._errors import ConfigError
from foldline._messages import replace
from foldline._policy import DEFAULT, PRESETS, Automatic, Layer, Policy, hard_strategies, policy, preset
from foldline._strategies import prune_tool_outputs, summarize_older
from foldline._writers import EXTRACT

if TYPE_CHECKING:
    from foldline._writers.draft import Summarizer

PREFIX = "FOLDLINE_"
"""Environment variables: `FOLDLINE_COMPACTION__AUTO_ENABLED=off` sets `compaction.auto_enabled`."""

NAMES = ("config.toml", "config.yaml", "config.yml", "config.json")


class Prune(Struct, frozen=True, forbid_unknown_fields=True):
    """`compaction.prune`: the first layer, in the keys of the OpenClaw requirements."""

    enabled: bool = True
    protect_recent_tokens: int = 40_000
    prune_minimum_tokens: int = 20_000


class Compaction(Struct, frozen=True, forbid_unknown_fields=True):
    """`compaction`: when and how a session is folded, in the keys of the OpenClaw requirements.

    `max_auto_compactions` is how many summaries an agent may write without being asked, and `warn_at_compaction` the
    compaction from which a fresh start is advised; 0 is no limit, and no such advice.
    """

    auto_enabled: bool = True
    auto_threshold_percent: float = 88
    preserve_recent_tokens: int = 25_000
    prune: Prune = Prune()
    notify_before_auto: bool = True
    max_auto_compactions: int = 4
    warn_at_compaction: int = 3


class Summaries(Struct, frozen=True, forbid_unknown_fields=True):
    """`summary`: which model writes the summaries, and how it is called; "extract" asks none.

    `fallbacks` are tried in turn where it fails; "extract" as the last of them folds without a model rather than not
    at all. `native` allows the compaction that the model's provider offers itself, where the fold is written as messages
    of that provider; else, and where it fails, the model is asked as usual. `timeout` is seconds for one attempt.
    `instructions` are added to the prompt, `prompt` replaces it. There is no place for a key: it comes from its
    provider's environment variable.
    """

    model: str = EXTRACT
    base_url: str | None = None
    fallbacks: tuple[str, ...] = ()
    native: bool = False
    temperature: float | None = 0.3
    max_tokens: int | None = None
    timeout: float = 120
    retries: int = 2
    instructions: str = ""
    prompt: str | None = None

    def to_summarizer(self) -> Summarizer:
        """Who writes summaries as the settings say.

        Raises `ConfigError` where a model cannot be called, unless extraction is among the fallbacks.
        """
        if self.model == EXTRACT:
            from foldline._page.extract import extract

            return extract
        from foldline._writers.model import ModelSummarizer

        return ModelSummarizer(
            self.model,
            base_url=self.base_url,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout=self.timeout,
            retries=self.retries,
            fallbacks=self.fallbacks,
            instructions=self.instructions,
            prompt=self.prompt,
        )


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings; `policy` names a preset.

    `compaction` refines the default one; of the others it says only what is done without being asked.
    """

    policy: str = "default"
    compaction: Compaction = Compaction()
    summary: Summaries = Summaries()

    def to_policy(self) -> Policy:
        """The policy that the settings ask for."""
        c = self.compaction
        chosen = preset(self.policy) if self.policy != DEFAULT.name or c == Compaction() else _refined(c)
        automatic = Automatic(c.auto_enabled, c.max_auto_compactions, c.warn_at_compaction, c.notify_before_auto)
        return replace(chosen, automatic=automatic)


def _refined(c: Compaction) -> Policy:
    """The default policy with its marks and sizes as `compaction` has them."""
    at = c.auto_threshold_percent / 100
    prune = prune_tool_outputs(protect=c.prune.protect_recent_tokens, minimum=c.prune.prune_minimum_tokens)
    layers = [
        Layer("summarize", at, min(0.5, at), (summarize_older(keep=c.preserve_recent_tokens),)),
        Layer("full", max(at, 0.95), min(0.4, at), hard_strategies(10_000), hard=True),
    ]
    if c.prune.enabled:
        layers.insert(0, Layer("prune", min(0.8, at), min(0.6, at), (prune,), outputs_over=50_000))
    return policy("settings", layers)


def settings_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the settings stand: `FOLDLINE_CONFIG`, else the first of config.toml, .yaml, .yml and .json that is there."""
    if named := environment.get(PREFIX + "CONFIG"):
        return Path(named)
    folder = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "foldline"
    return next((folder / name for name in NAMES if (folder / name).exists()), folder / NAMES[0])


def read_settings(path: Path | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a file (the user's own where none is given) and of the environment.

    Raises `ConfigError` with the file or the variable, the key, and what is wrong with it.
    """
    named = environment.get(PREFIX + "CONFIG") if path is None else None
    path = path or settings_path(environment)
    data = decoded(path) if named or path.exists() else {}
    settings = _checked(_converted(data, str(path), strict=True), str(path))
    for name, value in environment.items():
        keys = name.removeprefix(PREFIX).lower().split("__")
        ours = len(keys) > 1 or keys[0] in Settings.__struct_fields__
        if name.startswith(PREFIX) and name != PREFIX + "CONFIG" and ours:
            data = _set(data, keys, SWITCHES.get(value.lower(), value))
            settings = _checked(_converted(data, name, strict=False), name)
    return settings


SWITCHES = {"on": "true", "off": "false", "yes": "true", "no": "false"}


def decoded(path: Path) -> dict[str, Any]:
    """A settings file as data, by its suffix."""
    try:
        text = path.read_text("utf-8")
        if path.suffix in (".yaml", ".yml"):
            value = msgspec.yaml.decode(text)
        else:
            value = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ImportError:
        raise ConfigError("YAML needs the package pyyaml; TOML and JSON need nothing", path=str(path)) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except (ValueError, msgspec.DecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", path=str(path)) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError("settings are a table of keys", path=str(path))
    return value


def _converted(data: Mapping[str, Any], place: str, *, strict: bool) -> Settings:
    try:
        return msgspec.convert(data, Settings, strict=strict)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        key = where.strip(".`")
        if unknown := _UNKNOWN.search(what):
            key, what = ".".join(filter(None, (key, unknown[1]))), f"no such key{_meant(key, unknown[1])}"
        elif types := _TYPES.search(what):
            what = f"must be {_KINDS.get(types[1], types[1])}, not {_KINDS.get(types[2], types[2])}"
        raise ConfigError(what, path=place, key=key) from None


_UNKNOWN = re.compile("unknown field `(.+)`")
_TYPES = re.compile(r"Expected `(\w+)(?: \| null)?`, got `(\w+)`")

_KINDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "object": "a table of keys",
    "array": "a list", "null": "nothing",
}  # fmt: skip
"""The types of settings as their messages name them."""


def _meant(table: str, key: str) -> str:
    """A question after the key of a table that is spelled most like one that is not known, where there is one."""
    from difflib import get_close_matches

    tables = {"": Settings, "compaction": Compaction, "compaction.prune": Prune, "summary": Summaries}
    known = get_close_matches(key, tables[table].__struct_fields__ if table in tables else (), 1)
    return f"; {known[0]} is meant?" if known else ""


def _set(data: Mapping[str, Any], keys: list[str], value: str) -> dict[str, Any]:
    inner = data.get(keys[0])
    if len(keys) == 1:
        return {**data, keys[0]: value}
    return {**data, keys[0]: _set(inner if isinstance(inner, dict) else {}, keys[1:], value)}


def _checked(settings: Settings, place: str) -> Settings:
    """The settings, unless a value in them is impossible; then `ConfigError` names it and its place."""
    c = settings.compaction
    if not 0 < c.auto_threshold_percent <= 100:
        raise ConfigError("must lie between 0 and 100", path=place, key="compaction.auto_threshold_percent")
    counts = {
        "compaction.preserve_recent_tokens": c.preserve_recent_tokens,
        "compaction.prune.protect_recent_tokens": c.prune.protect_recent_tokens,
        "compaction.prune.prune_minimum_tokens": c.prune.prune_minimum_tokens,
        "compaction.max_auto_compactions": c.max_auto_compactions,
        "compaction.warn_at_compaction": c.warn_at_compaction,
        "summary.retries": settings.summary.retries,
    }
    for key, value in counts.items():
        if value < 0:
            raise ConfigError("must not be negative", path=place, key=key)
    check_summaries(settings.summary, place)
    if settings.policy not in PRESETS:
        raise ConfigError(f"no policy {settings.policy!r}; there are {', '.join(PRESETS)}", path=place, key="policy")
    return settings


def check_summaries(s: Summaries, place: str) -> None:
    """Raises `ConfigError` where a value is impossible, or where something stands behind "extract", which cannot fail."""
    if not s.model or s.model.endswith(":"):
        raise ConfigError(f"names no model; {EXTRACT} asks none", path=place, key="summary.model")
    if EXTRACT in (s.model, *s.fallbacks)[: len(s.fallbacks)]:
        raise ConfigError(f"{EXTRACT} cannot fail: nothing can come behind it", path=place, key="summary.fallbacks")
    if not s.timeout > 0:
        raise ConfigError("must be more than 0 seconds", path=place, key="summary.timeout")
    if s.max_tokens is not None and s.max_tokens <= 0:
        raise ConfigError("must be more than 0 tokens", path=place, key="summary.max_tokens")
    if s.temperature is not None and not 0 <= s.temperature <= 2:
        raise ConfigError("must lie between 0 and 2", path=place, key="summary.temperature")
