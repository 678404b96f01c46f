"""`python -m localentropy`."""

import sys

try:
    from localentropy.commands.cli import main
except KeyboardInterrupt:  # Ctrl-C while a job of the pipeline starts
    sys.exit(130)

if __name__ == "__main__":
    main()
