#!/usr/bin/env python3
"""Selects the learning rate of the FOG architecture: in bf16, on text that no result is reported
on."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import rates_study

    rates_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
