"""The terminal browser: sessions on the left, what fills the chosen one and its timeline on the right."""
