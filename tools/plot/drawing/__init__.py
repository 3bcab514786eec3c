"""Page, colours, axes, labels and columns of numbers of all pictures. Depends on words only."""
