"""Kernels: definitions, sources, builds, and fetching kernels that a distribution built."""
