"""Wide flat minima in neural networks: the theory, the algorithms and the figures of three papers and two talks.

This package imports nothing by itself: `from localentropy.theory import typical` loads the theory and no more.
"""

__version__ = "2.0.0"
