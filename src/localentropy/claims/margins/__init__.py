"""Claims of the paper on margins, arXiv:2107.01163."""
