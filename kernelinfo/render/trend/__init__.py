"""Output formats of a trend: one module each, as for reports."""
