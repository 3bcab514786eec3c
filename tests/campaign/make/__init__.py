"""What cases are made of: random configurations, most of which the program should take."""
