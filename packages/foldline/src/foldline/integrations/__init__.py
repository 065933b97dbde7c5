"""foldline inside agent frameworks: one module for each, named as its package is, against public names only.

Each has a `Folding` that is handed to the framework and keeps its conversations inside the model's window. The framework
itself is no dependency: it is there already where its module is imported.
"""
