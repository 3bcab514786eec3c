"""Readers of the program's output files. Depends on words, and not on the modules that draw."""
