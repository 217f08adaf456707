"""Looks at files that change: what moved in their kernels since the look before."""
