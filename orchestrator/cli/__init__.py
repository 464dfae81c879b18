"""The command line `celeriac`. Law: one noun, one file with `register(app)`, one line in `main.NOUNS`."""
