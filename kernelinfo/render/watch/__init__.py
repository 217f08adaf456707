"""Output formats of looks, one after the other: one module each."""
