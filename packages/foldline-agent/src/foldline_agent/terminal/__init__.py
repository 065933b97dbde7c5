"""The terminal's face: a conversation on the screen, what fills the window below it, and commands that begin with a slash."""
