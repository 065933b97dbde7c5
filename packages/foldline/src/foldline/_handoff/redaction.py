"""Secrets in an exported state give way to what they were; detect-secrets finds them, from the extra `redact`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import log2
from typing import Any

import msgspec

from foldline._errors import ConfigError
from foldline._handoff.occurrences import Occurrences
from foldline._handoff.state import State

ENTROPY = 4.5
"""Bits a character from which a run of base64 is taken for a key: detect-secrets' own limit."""

SHORTEST_KEY = 24
SHORTEST_WORD = 12
"""Characters of a key without a known shape, and of a password of nothing but letters."""

LONGEST_WORD = 14
"""Characters without a sign between them that a key without a known shape holds, and joined words seldom do."""

PROVIDER_KEYS = re.compile(
    r"sk-(?:ant|or|proj)-[\w-]{20,}|AIza[\w-]{35}|gsk_\w{40,}|xai-\w{40,}|hf_\w{30,}|github_pat_\w{40,}|Bearer [\w.~+/-]{16,}"
)
"""Keys of model providers and hosts whose shapes detect-secrets 1.5 does not know."""

PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)

_VALUE = r"""(?:"([^"\s]{6,})"|'([^'\s]{6,})'|([^\s"'`]{6,}))"""

GIVEN = re.compile(
    r"""(?:(?i:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key)\d?["']?\s*[:=]\s*"""
    r"|--(?:password|pass|token|secret|api-key)[ =]"
    r"|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^|;]*?\s-p"
    r"|\bsshpass\s+-p\s*"
    r"|\bredis-cli\b[^|;]*?\s-a\s+"
    rf"|\bcurl\b[^|;]*?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]+:){_VALUE}"
)
"""What names of settings and options of commands say is a secret."""

TOLD = re.compile(
    r"(?i:\b(?:pass(?:word|phrase|code|wort)|pwd|kennwort|contraseña|mot de passe|senha|kata sandi)(?:\s+for\s+\S+)?"
    r"""(?:\s+(?:is|was|ist|lautet|es|est|é|adalah)|\s*[:=])\s+|(?:пароль|密码|密碼|パスワード|비밀번호)\s*(?:[-—是는은はがを]|[:：=])?\s*)"""
    rf"{_VALUE}"
)
"""What a user says to be a password."""

_RUN = re.compile(rf"[\w+/=-]{{{SHORTEST_KEY},}}")
_CODE = re.compile(r"[(\[{<]")
_TOKEN = re.compile(r"[\w.+/=~-]+")

Finder = Callable[[str], Iterator[tuple[str, str]]]
"""Finds the secrets in a line, as `(secret, kind)`."""


def redacted(state: State) -> tuple[State, dict[str, int]]:
    """The state without the secrets in it, and how many of each kind there were.

    A secret that was found once is taken out wherever it or a telling part of it stands. Raises `ConfigError` where the
    extra is missing.
    """
    find = lru_cache(maxsize=4096)(_in_line(_finder()))
    document = msgspec.to_builtins(state)
    kinds: dict[str, str] = {}
    for text in _texts(document):
        for key in PRIVATE_KEY.findall(text):
            kinds.setdefault(key, "Private Key")
        for line in text.splitlines():
            for secret, kind in find(line):
                kinds.setdefault(secret, kind)
    if not kinds:
        return state, {}
    counts = Counter(kind for secret, kind in kinds.items() if not any(secret in k for k in kinds if k != secret))
    occurrences = Occurrences(kinds)
    clean = _mapped(document, lambda text: occurrences.replaced(text, lambda kind: f"[redacted: {kind}]"))
    return msgspec.convert(clean, State), counts


def _finder() -> Finder:
    """detect-secrets' detectors of shapes and of assignments, without its network checks, and the keys above."""
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
        from detect_secrets.filters.heuristic import is_prefixed_with_dollar_sign, is_templated_secret
        from detect_secrets.plugins.keyword import FOLLOWED_BY_EQUAL_SIGNS_REGEX, KeywordDetector
    except ImportError:
        raise ConfigError("needs the extra `redact`: pip install 'foldline[redact]'", path="--redact") from None
    by_kind: dict[str, Any] = get_mapping_from_secret_type_to_class()
    passed = {"Base64 High Entropy String", "Hex High Entropy String", "Public IP (ipv4)", "Private Key"}
    shapes = {kind: plugin() for kind, plugin in by_kind.items() if kind not in passed}
    words = KeywordDetector()

    def find(line: str) -> Iterator[tuple[str, str]]:
        for kind, shape in shapes.items():
            for secret in shape.analyze_string(line):
                yield secret, kind
        for said in words.analyze_string(line, {FOLLOWED_BY_EQUAL_SIGNS_REGEX: 5}):
            secret = said.partition(" ")[0]
            if not _CODE.search(secret):
                yield secret, words.secret_type
        for found in GIVEN.finditer(line):
            given = next(filter(None, found.groups()))
            if _is_password(given):
                yield given, "Secret Keyword"
        for found in TOLD.finditer(line):
            given = next(filter(None, found.groups())).rstrip(",.;:。，、")
            if _is_told_password(given):
                yield given, "Secret Keyword"
        for found in PROVIDER_KEYS.finditer(line):
            yield found[0].removeprefix("Bearer "), "API Key"
        for found in _RUN.finditer(line):
            if _is_key(found[0]):
                yield found[0], "High Entropy String"

    return lambda line: (
        (secret, kind)
        for secret, kind in find(line)
        if not is_templated_secret(secret) and not is_prefixed_with_dollar_sign(secret)
    )


def _in_line(find: Finder) -> Callable[[str], tuple[tuple[str, str], ...]]:
    """The secrets of a line, each drawn out to the whole token that it stands in; what is too plain is left."""

    def secrets(line: str) -> tuple[tuple[str, str], ...]:
        found = ((_token(line, secret), kind) for secret, kind in find(line))
        return tuple(each for each in found if len(each[0]) >= (SHORTEST_WORD if each[0].isalpha() else 6))

    return secrets


def _token(line: str, part: str) -> str:
    """The token of a line that a part begins, where a detector gives no more than the beginning."""
    at = line.find(part)
    token = _TOKEN.match(line, at) if at >= 0 and part else None
    return token[0].rstrip(".") if token and len(token[0]) > len(part) else part


def _is_password(given: str) -> bool:
    """Whether what was given for a password is one: letters with digits or signs, and no path, call or attribute."""
    mixed = any(map(str.isalpha, given)) and re.search(r"[\d!@#$%^&*+?~]", given)
    return bool(mixed) and not re.search(r"^[\w.]*[(\[{<]|^[~.]*/|^\$|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$", given)


def _is_told_password(given: str) -> bool:
    """Whether what prose names as a password is one: with a digit, and a sign or both kinds of letters."""
    cases = any(map(str.isupper, given)) and any(map(str.islower, given))
    return _is_password(given) and any(map(str.isdigit, given)) and (cases or not given.isalnum())


def _is_key(run: str) -> bool:
    """Whether a run of base64 is as random as a key: capitals, small letters and digits, no path and no joined words."""
    kinds = (str.isupper, str.islower, str.isdigit)
    longest = max(map(len, re.split(r"[-_+/=]", run)))
    return (
        run.count("/") < 2
        and longest >= LONGEST_WORD
        and all(any(map(kind, run)) for kind in kinds)
        and _entropy(run) >= ENTROPY
    )


def _entropy(text: str) -> float:
    shares = (text.count(c) / len(text) for c in set(text))
    return -sum(share * log2(share) for share in shares)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from _texts(each)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    return [_mapped(each, change) for each in value] if isinstance(value, list | tuple) else value
