#!/usr/bin/env python3
"""Training with FP8 products and planted outliers: which monitor warns first, and how often for nothing."""
import store


def main() -> None:
    chosen = store.arguments(__doc__, size={
        "choices": ("small", "large"), "default": "small",
        "help": "models of 1 million weights (about 40 minutes on 2 cores), or of 26 million, for a GPU"},
        layers={"choices": ("one", "all"), "default": "all", "help": "layers with planted outliers: all (default), or "
                "the middle one"},
        device={"choices": ("auto", "cpu", "cuda"), "default": "auto", "help": "auto: a GPU if PyTorch has one"})
    import needs  # noqa: F401  reports missing packages before they are imported
    import outliers_study

    outliers_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
