"""What was said before, found again: an index over every session, and a tool for agents."""
