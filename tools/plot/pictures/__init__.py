"""One module for each picture: COLUMNS that it reads, and draw(rows), which returns a figure."""
