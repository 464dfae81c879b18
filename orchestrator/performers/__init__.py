"""Performers: how a function is marked, collected and called. Law: knows plain values, no carrier, no database."""
