"""Claims of the talk on exactly solvable models."""
