#!/usr/bin/env python3
"""Training with quantized gradients: the loss by steps, and by simulated time."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  says what to install, before anything needs it
    import gradients_study

    gradients_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
