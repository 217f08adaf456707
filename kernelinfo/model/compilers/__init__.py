"""Occupancy as compilers and runtimes count it, and the differences from the hardware's."""
