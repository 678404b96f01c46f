"""What figures and claims call the algorithms."""

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
