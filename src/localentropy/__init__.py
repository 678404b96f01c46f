"""Wide flat minima in neural networks: the theory, the algorithms and the figures of three papers and two talks.

This package imports nothing by itself: `from localentropy.replica import random_features` loads what
that module needs and no more.
"""

__version__ = "1.0.0"
