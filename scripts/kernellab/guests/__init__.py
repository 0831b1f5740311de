"""Guests: sharing the host's files, booting or resuming a saved boot, and watching for the end of a run."""
