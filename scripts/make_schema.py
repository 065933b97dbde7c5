"""Writes docs/export.schema.json, the JSON Schema of what `context export` writes."""

import json
from pathlib import Path

from foldline._handoff.state import schema

PATH = Path(__file__).parents[1] / "docs" / "export.schema.json"

if __name__ == "__main__":
    PATH.write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")
