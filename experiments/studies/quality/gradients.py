#!/usr/bin/env python3
"""Training with quantized gradients: the loss by step, and by simulated time."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import gradients_study

    gradients_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
