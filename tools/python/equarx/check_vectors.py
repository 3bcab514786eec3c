"""python3 -m equarx.check_vectors VECTORS RESULTS"""
import sys

from ._vectors import main

if __name__ == "__main__":
    sys.exit(main())
