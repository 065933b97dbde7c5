"""Facts: what code reads out of a history and keeps, and who said it."""
