"""One module for each picture: draw(), which returns a figure.

Modules without draw() are what some of them share. Knows read, words and drawing.
"""
