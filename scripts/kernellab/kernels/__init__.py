"""Kernels: definitions, sources, builds, and kernels that a distribution built."""
