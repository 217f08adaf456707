"""The user's compilers: found, run within limits, and ended with their children.

A source or LLVM IR becomes assembly here; every other room reads the assembly like a file.
"""
