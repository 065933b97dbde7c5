"""Settings: an INI file, with environment variables on top."""

import configparser
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional


class BadConfig(ValueError):
    """A setting is missing or makes no sense."""


@dataclass(frozen=True)
class Config:
    """Everything the service can be told from outside."""

    host: str
    port: int
    health_port: int
    database: Path
    documents: Path
    numbering: Path
    prefix: str
    export_folder: Path
    nightly_at: str
    batch_size: int


def load(path: Path, environ: Optional[Mapping[str, str]] = None) -> Config:
    """Read the file; BILLING_SECTION_KEY in the environment wins over the file."""
    environ = os.environ if environ is None else environ
    parser = configparser.ConfigParser()
    if not parser.read(str(path)):
        raise BadConfig(f"no such file: {path}")

    def value(section: str, key: str, default: Optional[str] = None) -> str:
        name = f"BILLING_{section}_{key}".upper()
        if name in environ:
            return environ[name]
        found = parser.get(section, key, fallback=default)
        if found is None:
            raise BadConfig(f"[{section}] {key} is missing")
        return found

    def number(section: str, key: str, low: int, high: int, default: Optional[str] = None) -> int:
        text = value(section, key, default)
        try:
            found = int(text)
        except ValueError:
            raise BadConfig(f"[{section}] {key} is not a number: {text!r}") from None
        if not low <= found <= high:
            raise BadConfig(f"[{section}] {key} must lie between {low} and {high}, not {found}")
        return found

    return Config(
        host=value("server", "host", "127.0.0.1"),
        port=number("server", "port", 1, 65535),
        health_port=number("server", "health_port", 1, 65535),
        database=Path(value("storage", "database")),
        documents=Path(value("storage", "documents")),
        numbering=Path(value("storage", "numbering")),
        prefix=value("storage", "prefix", "INV"),
        export_folder=Path(value("export", "folder")),
        nightly_at=value("jobs", "nightly_at", "02:30"),
        batch_size=number("jobs", "batch_size", 1, 10000, "250"),
    )
