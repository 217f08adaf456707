"""Formats of trends, one module each."""
