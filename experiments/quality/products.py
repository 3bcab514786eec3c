#!/usr/bin/env python3
"""Training with products of FP8: the loss, and what monitors saw."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  says what to install, before anything needs it
    import products_study

    products_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
