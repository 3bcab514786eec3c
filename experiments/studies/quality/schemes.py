#!/usr/bin/env python3
"""Training with the matrix products of schemes: losses, and the claims of papers on them."""
import store


def main() -> None:
    chosen = store.arguments(__doc__, study={
        "choices": ("fp4", "masks", "pams"), "default": "fp4",
        "help": "claims and schemes of one paper: fp4 (arXiv 2501.17116), masks (2405.18710), pams (2011.04212)"},
        scheme={"metavar": "NAME", "action": "append", "default": [],
                "help": "another scheme to train with: a JSON file, or the name of one in schemes/; may be repeated"})
    import needs  # noqa: F401  reports missing packages before they are imported
    import schemes_study

    schemes_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
