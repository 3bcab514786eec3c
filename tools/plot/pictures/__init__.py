"""One module for each picture: draw(), which returns a figure, and COLUMNS, which it reads of rows.

Modules without draw() are what some of them share. Knows read, words and drawing.
"""
