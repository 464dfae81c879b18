"""Deciding what follows. Law: pure; one file for each thing that is decided, `decision` puts them in order."""
