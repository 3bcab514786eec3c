"""Invariants of every answer. An invariant is a function of (desk, content, draw) that raises
Broken."""
