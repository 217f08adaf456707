"""The public API, one module for all names that need the same rooms."""
