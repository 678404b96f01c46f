"""`python -m localentropy`."""

from localentropy.cli import main

if __name__ == "__main__":
    main()
