"""Output formats of live registers: one module each, as for reports."""
