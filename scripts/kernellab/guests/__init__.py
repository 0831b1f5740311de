"""Guests: how one reaches the host's files, boots or goes on from a saved boot, and ends."""
