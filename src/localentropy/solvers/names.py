"""Names of the algorithms in figures and claims."""

NAMES = {
    "anneal": "SA",
    "mct0": "MCT0",
    "sbpi": "SBPI",
    "focusing_bp": "fBP",
    "belief_propagation": "BP",
    "binarynet": "BinaryNet",
    "sgd": "SGD",
    "adam": "Adam",
}

COMMITTEE_NAMES = {"fbp": "fBP", "elal": "eLAL", "ce_slow": "ceSGD-slow", "ce_fast": "ceSGD-fast", "lal": "LAL"}
"""Algorithms of the paper `shaping`, as its tables call them, in its order from the widest minima to the narrowest."""

LEAST_ACTION_NAMES = {"lal": COMMITTEE_NAMES["lal"], "lal_free": "LAL, free norms"}
"""Two readings of least-action learning: units of norm 1 after every mini-batch, or never normalised."""
