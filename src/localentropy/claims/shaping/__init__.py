"""Claims of the paper on shaping the learning landscape, arXiv:1905.07833."""
