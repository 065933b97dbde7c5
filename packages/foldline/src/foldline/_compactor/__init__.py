"""The compactor: an agent's history kept within its window, and what belongs to that alone."""
