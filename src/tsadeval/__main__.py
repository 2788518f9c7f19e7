"""`python -m tsadeval` is the command `tsadeval`."""

from tsadeval.cli import main

if __name__ == "__main__":
    main()
