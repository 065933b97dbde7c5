"""Work carried from one session to another: exported, imported, handed off to a goal, written in another format."""
