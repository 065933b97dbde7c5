"""`python -m foldline` is the command line."""

from foldline.cli import main

main()
