#!/usr/bin/env python3
"""Effect of stored weight formats on a published sentence encoder: rotation of embeddings, order of
similarities, nearest neighbours, and claims of papers."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import stored_encoder_study

    stored_encoder_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
