#!/usr/bin/env python3
"""Effect of quantized AllReduces of tensor parallelism on a language model: perplexity, choices,
divergence."""
import store


def main() -> None:
    chosen = store.arguments(__doc__)
    import needs  # noqa: F401  reports missing packages before they are imported
    import inference_study

    inference_study.study(chosen)


if __name__ == "__main__":
    store.run(main)
