#!/usr/bin/env python3
"""What quantized AllReduces of tensor parallelism do to a language model: perplexity, choices, divergence."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  says what to install, before anything needs it
    import inference_study

    inference_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
