"""Answers for coding agents, over the Model Context Protocol. `kernelinfo mcp` alone imports it."""
