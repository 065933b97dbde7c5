"""What stands in for folded messages: the ledger of facts, and the summary made of it."""

EXTRACT = "extract"
"""What stands in place of a model's name where code writes the summary."""
