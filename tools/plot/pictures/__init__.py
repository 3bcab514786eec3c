"""One module for each picture, whose draw() returns a figure; modules without draw() are shared.

Depends on read, words and drawing.
"""
