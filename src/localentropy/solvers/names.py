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
