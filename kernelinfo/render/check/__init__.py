"""Output formats of a check: one module each."""
