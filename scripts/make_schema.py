"""Writes the JSON Schemas in docs: of what `context export` writes, of a policy's file, and of the settings."""

import json
from pathlib import Path

from foldline import _config
from foldline._handoff import state
from foldline._policies import file

DOCS = Path(__file__).parents[1] / "docs"
SCHEMAS = {
    "export.schema.json": state.schema,
    "policy.schema.json": file.schema,
    "settings.schema.json": _config.schema,
}

if __name__ == "__main__":
    for name, schema in SCHEMAS.items():
        (DOCS / name).write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")
