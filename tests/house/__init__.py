"""Tests of the house itself: what the code may import, how long and how named it is, what is proved and promised."""
