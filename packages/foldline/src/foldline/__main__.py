"""`python -m foldline` is the command line."""

from foldline._cli import main

main()
