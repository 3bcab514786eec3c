"""What all pictures share: page, colours, axes, labels, columns of numbers. Knows words; not what is drawn."""
