"""Reads what the program writes, into types of its own. Knows words; not what draws."""
