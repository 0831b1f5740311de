"""Kernels: definitions, sources, builds, and those that a distribution built."""
