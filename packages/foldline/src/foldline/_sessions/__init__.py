"""Sessions of every agent: each format one declared object, each session one face, whatever wrote it."""
