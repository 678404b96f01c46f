"""Claims of the main paper, arXiv:2110.00683."""
