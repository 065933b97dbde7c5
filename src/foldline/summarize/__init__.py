"""What stands in for folded messages: the ledger of facts, and the summary made of it."""
