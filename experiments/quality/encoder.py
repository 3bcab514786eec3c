#!/usr/bin/env python3
"""What quantized AllReduces do to a published sentence encoder: how far embeddings turn, and which pairs change rank."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  says what to install, before anything needs it
    import encoder_study

    encoder_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
