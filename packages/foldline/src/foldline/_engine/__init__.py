"""The engine: a policy's steps run over a view, and a fold with its receipt comes of it."""
