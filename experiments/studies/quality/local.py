#!/usr/bin/env python3
"""Training that communicates every k steps: local SGD and DiLoCo, with quantized outer gradients."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import local_study

    local_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
