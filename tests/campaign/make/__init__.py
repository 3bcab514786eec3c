"""Contents of cases: random configurations; the program should accept most of them."""
