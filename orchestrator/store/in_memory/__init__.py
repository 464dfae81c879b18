"""The tables of the store in memory. Law: plain values in persistent maps; nothing outside this process is touched."""
