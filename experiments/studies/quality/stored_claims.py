"""Claims of papers on stored weights (README.md), and their verdicts over seeds."""
# By number: bits, better and worse method; then methods that are harmless.
ORDERS = [(3, "k-means by row", "RTN by row"), (3, "weighted k-means by row", "k-means by row"),
          (3, "weighted, sensitive apart", "weighted k-means by row"),
          (3, "weighted, sensitive and largest apart", "weighted, sensitive apart"), (2, "GPTQ", "RTN"),
          (2, "SliM-LLM", "GPTQ"), (2, "5 levels by row", "RTN by row")]
HARMLESS = [(8, "W8A8"), (4, "GPTQ by 128")]


def by_method(rows: list[dict]) -> dict[tuple, list[dict]]:
    """Rows of all seeds by name and bits of their method."""
    found: dict[tuple, list[dict]] = {}
    for row in rows:
        found.setdefault((row["method"], row["bits"]), []).append(row)
    return found


def by_name(methods: list[dict]) -> dict[str, dict]:
    """Rows of methods by name and bits, for studies that refer to them."""
    return {f"{row['method']}, {row['bits']} bits": row for row in methods}


def verdicts(made: list[dict]) -> dict[str, int]:
    """Number of claims by verdict."""
    return {name: sum(claim["verdict"] == name for claim in made) for name in ("hit", "undecided", "miss")}


def verdict(holds: list[bool]) -> str:
    """A claim of all seeds."""
    return "hit" if all(holds) else "undecided" if any(holds) else "miss"


def claims(rows: list[dict], cost, harmless: str, margin) -> list[dict]:
    """Claims whose methods were evaluated, with gains by seed, above 0 for hits. cost(row): the less the better;
    margin(row): above 0 for methods that are harmless, in words `harmless`."""
    found = by_method(rows)
    made = []
    for number, (bits, better, worse) in enumerate(ORDERS, 1):
        if (better, bits) in found and (worse, bits) in found:
            gains = [cost(bad) - cost(good) for good, bad in zip(found[better, bits], found[worse, bits])]
            made.append({"claim": number, "text": f"{bits} bits: {better} better than {worse}", "gains": gains})
    for number, (bits, method) in enumerate(HARMLESS, len(ORDERS) + 1):
        if (method, bits) in found:
            made.append({"claim": number, "text": f"{method}: {harmless}",
                         "gains": [margin(row) for row in found[method, bits]]})
    return [claim | {"verdict": verdict([gain > 0 for gain in claim["gains"]])} for claim in made]


def print_claims(made: list[dict]) -> None:
    for claim in made:
        gains = ", ".join(f"{gain:+.4f}" for gain in claim["gains"])
        print(f"claim {claim['claim']}, {claim['text']}: {claim['verdict']} ({gains})")
