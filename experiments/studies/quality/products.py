#!/usr/bin/env python3
"""Training with FP8 matmuls: the loss, and the values of monitors."""
import store


def main() -> None:
    chosen = store.arguments(__doc__, fog={
        "choices": ("published", "adapted"), "default": "published",
        "help": "architecture and history of amax of FOG: as published (default), or adapted: with a final norm, a "
                "softmax scale by the size of a head, and 16 steps"})
    import needs  # noqa: F401  reports missing packages before they are imported
    import products_study

    products_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
