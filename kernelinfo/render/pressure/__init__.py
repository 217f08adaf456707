"""Output formats of register pressure, one module each."""
