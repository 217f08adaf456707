"""Bytes to facts: the numbers of each kernel as every source states them, none chosen yet."""
