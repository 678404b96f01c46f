"""`python -m localentropy`."""

from localentropy.commands.cli import main

if __name__ == "__main__":
    main()
