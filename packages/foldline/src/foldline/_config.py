"""Settings: one file in TOML, YAML or JSON, overridden by environment variables, decoded strictly."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from foldline._decoding import SUFFIXES, converted, read_table
from foldline._errors import ConfigError
from foldline._messages import replace
from foldline._policies import DEFAULT, preset
from foldline._policy import Automatic, Fill, Layer, Mark, Policy
from foldline._strategies.registry import with_arguments
from foldline._writers import EXTRACT
from foldline._writers.registry import declared, misspelled

if TYPE_CHECKING:
    from foldline._writers.draft import Summarizer

PREFIX = "FOLDLINE_"
"""Environment variables: `FOLDLINE_COMPACTION__AUTO_ENABLED=off` sets `compaction.auto_enabled`."""

CURRENT, POLICY = "current", "policy"
"""What stands for a model's name: the one that the agent uses, and the one that the policy means."""

Size = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Temperature = Annotated[float, Meta(ge=0, le=2)]

NAMES = ("config.toml", "config.yaml", "config.yml", "config.json")


class Prune(Struct, frozen=True, forbid_unknown_fields=True):
    """`compaction.prune`: the layers that prune, in the keys of the OpenClaw requirements; None is as the policy says."""

    enabled: bool = True
    protect_recent_tokens: Size | None = None
    prune_minimum_tokens: Size | None = None


class ModelKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """`compaction.model`: who writes the summaries, in the keys of the OpenClaw requirements; `summary` goes before it."""

    model_name: Annotated[str, Meta(min_length=1)]
    provider: str = ""
    temperature: Temperature | None = None
    max_tokens: AtLeastOne | None = None


class Compaction(Struct, frozen=True, forbid_unknown_fields=True):
    """`compaction`: when and how a session is folded, in the keys of the OpenClaw requirements.

    What is None is as the policy says, whichever it is. `max_auto_compactions` is how many summaries an agent may write
    without being asked, and `warn_at_compaction` the compaction from which a fresh start is advised; 0 is no limit, and
    no such advice. `auto_threshold_tokens` is a mark in tokens, and `reserve_tokens` what is held back for the reply, from
    which a policy like pi's counts. pi's own `enabled`, `reserveTokens` and `keepRecentTokens` are read, too.
    """

    auto_enabled: bool = True
    auto_threshold_percent: float | None = None
    auto_threshold_tokens: Size | None = None
    reserve_tokens: Size | None = None
    preserve_recent_tokens: Size | None = None
    prune: Prune = Prune()
    notify_before_auto: bool = True
    max_auto_compactions: Size = 4
    warn_at_compaction: Size = 3
    model: ModelKeys | None = None
    enabled: bool | None = None
    pi_reserve: Size | None = field(default=None, name="reserveTokens")
    pi_keep: Size | None = field(default=None, name="keepRecentTokens")


class Summaries(Struct, frozen=True, forbid_unknown_fields=True):
    """`summary`: which model writes the summaries, and how it is called; "extract" asks none.

    In place of a model's name may stand that of a summarizer that a package offers; "current", the model that the agent
    uses; or "policy", the one that the policy means, and extraction where it means none.

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
    temperature: Temperature | None = 0.3
    max_tokens: AtLeastOne | None = None
    timeout: Annotated[float, Meta(gt=0)] = 120
    retries: Size = 2
    instructions: str = ""
    prompt: str | None = None

    @property
    def bare(self) -> bool:
        """Whether the model has neither a provider nor a place, so that a summarizer may be meant."""
        return not self.base_url and ":" not in self.model

    @property
    def installed(self) -> Summarizer | None:
        """The summarizer of a package that stands in place of a model."""
        return declared().get(self.model) if self.bare else None

    def given(self, flags: Mapping[str, Any]) -> Summaries:
        """The same with what was said on a command line in its place; a model's URL and fallbacks are its own.

        Raises `ConfigError` for what is impossible.
        """
        own = self if flags.get("model") is None else replace(self, base_url=None, fallbacks=())
        found = replace(own, **{name: value for name, value in flags.items() if value not in (None, ())})
        check_summaries(found, "--model")
        return found

    def meant(self, policy: Policy, current: str) -> Summaries:
        """The same with the name of a model in place of "current" and "policy"; raises `ConfigError` where there is none."""
        model = (policy.wording.model or EXTRACT) if self.model == POLICY else self.model
        if model == CURRENT and not current:
            raise ConfigError("the model in use is not known: name one", path="settings", key="summary.model")
        return replace(self, model=current if model == CURRENT else model)

    def to_summarizer(self) -> Summarizer:
        """Who writes summaries as the settings say.

        Raises `ConfigError` where a model cannot be called, unless extraction is among the fallbacks.
        """
        if self.model == EXTRACT:
            from foldline._writers.extraction import extract

            return extract
        if self.installed:
            return self.installed
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
    """All settings; `policy` is the name of one, `module:NAME`, or the path of its file, and `compaction` refines it."""

    policy: str = DEFAULT
    compaction: Compaction = Compaction()
    summary: Summaries = Summaries()

    def to_policy(self, name: str | None = None) -> Policy:
        """The policy that the settings ask for or, in its place, that a name, a file or `module:NAME` names: refined by them."""
        return self.refined(preset(self.policy) if name is None else preset(name, path="--policy"))

    def writer(self, policy: Policy, model: str, flags: Mapping[str, object] = {}) -> Summaries:
        """Who writes a policy's summaries where an agent uses `model`; a command's `flags` go before the settings.

        Raises `ConfigError` for what is impossible.
        """
        return self.summary.given(flags).meant(policy, model)

    def refined(self, policy: Policy) -> Policy:
        """A policy with what `compaction` states in place of its own; raises `ConfigError` where that leaves nothing."""
        c = self.compaction
        layers = list(policy.layers)
        if c.auto_threshold_percent is not None:
            layers = _starting(layers, policy.first, c.auto_threshold_percent / 100)
        if c.auto_threshold_tokens is not None:
            layers = _starting(layers, policy.first, Mark(tokens=c.auto_threshold_tokens))
        if c.reserve_tokens is not None:
            layers = [_reserving(layer, c.reserve_tokens) for layer in layers]
        if not c.prune.enabled:
            layers = [layer for layer in layers if layer.kind != "prune"]
        if not layers:
            why = f"the policy {policy.name} does nothing else"
            raise ConfigError(why, path="settings", key="compaction.prune.enabled")
        automatic = Automatic(c.auto_enabled, c.max_auto_compactions, c.warn_at_compaction, c.notify_before_auto)
        reserve = policy.reserve if c.reserve_tokens is None else c.reserve_tokens
        return replace(policy, layers=tuple(_sized(layer, c) for layer in layers), automatic=automatic, reserve=reserve)

    def in_our_keys(self) -> Settings:
        """The same settings with what pi and OpenClaw spell otherwise under foldline's own keys."""
        c, s = self.compaction, self.summary
        ours = {"auto_enabled": c.enabled, "reserve_tokens": c.pi_reserve, "preserve_recent_tokens": c.pi_keep}
        stated = {name: value for name, value in ours.items() if value is not None}
        if c.model is not None and s == Summaries():
            named = ":".join(filter(None, (c.model.provider, c.model.model_name)))
            asked = {"model": named, "temperature": c.model.temperature, "max_tokens": c.model.max_tokens}
            s = replace(s, **{name: value for name, value in asked.items() if value})
        theirs = {"model": None, "enabled": None, "pi_reserve": None, "pi_keep": None}
        return replace(self, compaction=replace(c, **stated, **theirs), summary=s)


REPLY_SHARE = 0.8
"""The share of the reserve that a summary's reply may take in pi's plan."""


def _reserving(layer: Layer, reserve: int) -> Layer:
    """A layer that counts from what is held back for the reply, with another number held back."""

    def counted(fill: Fill) -> Fill:
        return (
            replace(fill, less=reserve) if isinstance(fill, Mark) and isinstance(fill.less, int) and fill.less else fill
        )

    at = counted(layer.at)
    if at == layer.at:
        return layer
    wording = replace(layer.summary, reply=int(REPLY_SHARE * reserve)) if layer.summary.reply else layer.summary
    return replace(layer, at=at, to=counted(layer.to), summary=wording)


def _starting(layers: Sequence[Layer], first: int, at: Fill) -> list[Layer]:
    """The layers with the mark of one, and of those that start with it, at `at`: no other before it later, none behind it
    earlier, and no target above."""
    usual = layers[first].at

    def moved(place: int, layer: Layer) -> Layer:
        mark = at if layer.at == usual else layer.at
        if layer.at != usual and not isinstance(mark, Mark) and not isinstance(at, Mark):
            mark = min(mark, at) if place < first else max(mark, at)
        to = layer.to if isinstance(layer.to, Mark) or isinstance(at, Mark) else min(layer.to, at)
        return replace(layer, at=mark, to=mark if layer.to == layer.at else to)

    return [moved(place, layer) for place, layer in enumerate(layers)]


def _sized(layer: Layer, c: Compaction) -> Layer:
    """A layer whose strategies keep as much as is stated for what it does."""
    sizes: dict[str, dict[str, int | None]] = {
        "prune": {"protect": c.prune.protect_recent_tokens, "minimum": c.prune.prune_minimum_tokens},
        "summarize": {"keep": c.preserve_recent_tokens},
    }
    stated = {name: size for name, size in sizes.get(layer.kind, {}).items() if size is not None}
    return replace(layer, strategies=tuple(with_arguments(each, stated, "compaction") for each in layer.strategies))


def settings_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the settings stand: `FOLDLINE_CONFIG`, else the first of config.toml, .yaml, .yml and .json that is there."""
    if named := environment.get(PREFIX + "CONFIG"):
        return Path(named)
    home = Path(environment.get("HOME") or Path.home())
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "foldline"
    own = next((place for name in NAMES if _is_there(place := folder / name)), None)
    other = home.joinpath(*OPENCLAW)
    return own or (other if os.path.exists(other) else folder / NAMES[0])


def _is_there(path: Path) -> bool:
    """Whether there is a file, be it one that cannot be looked at: reading it says why."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def read_settings(
    path: Path | None = None, environment: Mapping[str, str] = os.environ, *, agent: str = ""
) -> Settings:
    """The settings of a file (the user's own where none is given) and of the environment.

    Where no file is given, what `agent` has in settings of its own stands below them. Raises `ConfigError` with the file or
    the variable, the key, and what is wrong with it.
    """
    named = environment.get(PREFIX + "CONFIG") if path is None else None
    below = _of_pi(environment) if agent == "pi" and path is None else {}
    path = path or settings_path(environment)
    data = _beside(_ours_in(read_table(path), path), path) if named or _is_there(path) else {}
    if below and isinstance(own := data.get("compaction", {}), dict):
        data = {**data, "compaction": {**below, **own}}
    settings = _checked(converted(data, Settings, str(path)), str(path))
    for name, value in environment.items():
        keys = name.removeprefix(PREFIX).lower().split("__")
        ours = len(keys) > 1 or keys[0] in Settings.__struct_fields__
        if name.startswith(PREFIX) and name != PREFIX + "CONFIG" and ours:
            data = _set(data, keys, SWITCHES.get(value.lower(), value))
            settings = _checked(converted(data, Settings, name, strict=False), name)
    return settings.in_our_keys()


OPENCLAW = (".openclaw", "config.yaml")
"""The file of OpenClaw's in which its requirements put `compaction`, from the user's home on."""


def _ours_in(data: dict[str, object], path: Path) -> dict[str, object]:
    """What a settings file has for foldline: of OpenClaw's own, `compaction` alone."""
    if path.parts[-2:] != OPENCLAW:
        return data
    return {"compaction": data["compaction"]} if "compaction" in data else {}


def _of_pi(environment: Mapping[str, str]) -> dict[str, object]:
    """What pi's own settings say of compaction, as far as foldline knows the keys; nothing where they cannot be read."""
    home = Path(environment.get("HOME") or Path.home())
    path = Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent") / "settings.json"
    try:
        said = read_table(path).get("compaction") if _is_there(path) else None
    except ConfigError as error:
        warnings.warn(f"{error}; what pi has set is left out", stacklevel=2)
        return {}
    kinds = {"enabled": bool, "reserveTokens": int, "keepRecentTokens": int}
    return (
        {key: value for key, value in said.items() if type(value) is kinds.get(key)} if isinstance(said, dict) else {}
    )


def schema() -> dict[str, Any]:
    """The JSON Schema of the settings."""
    found = msgspec.json.schema(Settings)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The settings of foldline", **found}


SWITCHES = {"on": "true", "off": "false", "yes": "true", "no": "false"}


def _beside(data: dict[str, object], path: Path) -> dict[str, object]:
    """The data of a settings file, with the path of a policy's file as it stands from that file's folder."""
    named = data.get("policy")
    if not isinstance(named, str) or not named.endswith(SUFFIXES):
        return data
    return {**data, "policy": str(path.parent / Path(named).expanduser())}


def _set(data: Mapping[str, object], keys: list[str], value: str) -> dict[str, object]:
    inner = data.get(keys[0])
    if len(keys) == 1:
        return {**data, keys[0]: value}
    return {**data, keys[0]: _set(inner if isinstance(inner, dict) else {}, keys[1:], value)}


def _checked(settings: Settings, place: str) -> Settings:
    """The settings, unless a value in them is impossible; then `ConfigError` names it and its place."""
    percent = settings.compaction.auto_threshold_percent
    if percent is not None and not 0 < percent <= 100:
        raise ConfigError("must lie between 0 and 100", path=place, key="compaction.auto_threshold_percent")
    check_summaries(settings.in_our_keys().summary, place)
    preset(settings.policy, path=place, key="policy")
    return settings


def check_summaries(s: Summaries, place: str) -> None:
    """Raises `ConfigError` where a value is impossible, or where something stands behind "extract", which cannot fail."""
    if not s.model or s.model.endswith(":"):
        raise ConfigError(f"names no model; {EXTRACT} asks none", path=place, key="summary.model")
    if s.bare and (why := misspelled(s.model)):
        raise ConfigError(why, path=place, key="summary.model")
    if EXTRACT in (s.model, *s.fallbacks)[: len(s.fallbacks)]:
        raise ConfigError(f"{EXTRACT} cannot fail: nothing can come behind it", path=place, key="summary.fallbacks")
    if set(s.fallbacks) - {EXTRACT} and s.installed:
        raise ConfigError(f"a package's summarizer has none but {EXTRACT}", path=place, key="summary.fallbacks")
