"""Output formats of a comparison: one module each, as for reports."""
