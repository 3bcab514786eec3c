#!/usr/bin/env python3
"""Which learning rate the FOG architecture is trained with: chosen in bf16, on text that no result is of."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  says what to install, before anything needs it
    import rates_study

    rates_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
