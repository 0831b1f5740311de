"""Guests: sharing the host's files, booting or resuming a saved boot, and the end of a run."""
