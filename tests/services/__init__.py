"""The servers that tests talk to. Law: one that answers is used, one that is only installed is started, each test
process has its own corner of it, and what was made is removed."""
