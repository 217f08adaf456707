"""Output formats of a sweep: one module each, as for reports."""
