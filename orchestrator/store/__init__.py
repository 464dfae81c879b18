"""Adapters of the store port. Law: one file a backend; they know the port and never each other."""
