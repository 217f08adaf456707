"""What limits each AMD GPU kernel's occupancy, from what the compiler left on disk."""

__version__ = "0.1.0"
