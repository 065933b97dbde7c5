"""Writers: who turns a brief into a summary: the page, a model, a provider's own compaction."""

EXTRACT = "extract"
"""What stands in place of a model's name where code writes the summary."""
