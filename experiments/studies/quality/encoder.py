#!/usr/bin/env python3
"""Effect of quantized AllReduces on a published sentence encoder: rotation of embeddings, and pairs
that change rank."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import encoder_study

    encoder_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
