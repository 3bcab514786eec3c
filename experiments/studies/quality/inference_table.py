"""Tables of the inference study: a row for each model, means over models, and rules by the error of a sum."""
import math

import numpy as np

from intervals import over_both, over_sequences

FP32 = 1e-12  # only FP32 has a smaller NMSE
# Ranges of NMSE in which the ratio of a cost to the NMSE is reported.
RANGES = {"below 3e-4": (FP32, 3e-4), "3e-4 to 1e-3": (3e-4, 1e-3), "1e-3 to 5e-2": (1e-3, 5e-2),
          "above 5e-2": (5e-2, math.inf), "3e-4 to 5e-2": (3e-4, 5e-2), "all": (FP32, math.inf)}


def row_of(name: str, definition: dict, result: dict) -> dict:
    """A row of one model. The change of perplexity is paired: the same sequences with and without quantization."""
    change, half = over_sequences(np.subtract(result["nll"], result["exact_nll"]))
    return {"name": name, "seed": definition["model"]["seed"], "way": definition["way"]["name"],
            "ranks": definition["ranks"], "only": definition["only"] or "", "nmse": result["nmse"],
            "perplexity": math.exp(np.mean(result["nll"])),
            "perplexity_change": math.expm1(change),
            "change_low": math.expm1(change - half), "change_high": math.expm1(change + half),
            "top1_agreement": float(np.mean(result["top1"])), "kl_nats": float(np.mean(result["kl"]))}


def over_models(pairs: list[tuple[dict, dict]]) -> list[dict]:
    """A row for each way and number of ranks, from (row, result) of all models: means, and intervals over the
    models and their sequences."""
    groups: dict[tuple, list[tuple[dict, dict]]] = {}
    for row, result in pairs:
        groups.setdefault((row["way"], row["ranks"]), []).append((row, result))
    return [_over_models(way, ranks, some) for (way, ranks), some in groups.items()]


def _over_models(way: str, ranks: int, some: list[tuple[dict, dict]]) -> dict:
    rows = [row for row, _ in some]
    change, half = over_both([np.subtract(result["nll"], result["exact_nll"]) for _, result in some])
    kl, kl_half = over_both([result["kl"] for _, result in some])
    top1, top1_half = over_both([result["top1"] for _, result in some])
    return {"way": way, "ranks": ranks, "seeds": len(some), "nmse": float(np.mean([row["nmse"] for row in rows])),
            "perplexity_change": math.expm1(change), "change_low": math.expm1(change - half),
            "change_high": math.expm1(change + half), "change_by_seed": [row["perplexity_change"] for row in rows],
            "kl_nats": kl, "kl_low": kl - kl_half, "kl_high": kl + kl_half, "top1_agreement": top1,
            "top1_low": top1 - top1_half, "top1_high": top1 + top1_half}


def harmless(rows: list[dict], limit: float) -> float:
    """The largest NMSE up to which the perplexity of every configuration grows by less than
    `limit`, by the upper end of its interval."""
    best = 0.0
    for row in sorted(rows, key=lambda row: row["nmse"]):
        if row["change_high"] >= limit:
            break
        best = row["nmse"]
    return best


def ratio(rows: list[dict], cost: str, low: float, high: float) -> dict | None:
    """Ratio of a cost to the NMSE over the rows with an NMSE from `low` to below `high`: median, extremes, and the
    standard deviation relative to the mean."""
    found = np.array([row[cost] / row["nmse"] for row in rows if low <= row["nmse"] < high])
    if len(found) < 2:
        return None
    return {"rows": len(found), "median": float(np.median(found)), "lowest": float(found.min()),
            "highest": float(found.max()), "relative_spread": float(found.std(ddof=1) / found.mean())}


def rules(rows: list[dict]) -> dict:
    """Ratios of both costs, by range of NMSE; rows: one for each model, way and number of ranks."""
    found = {name: {cost: ratio(rows, cost, *ends) for cost in ("kl_nats", "perplexity_change")}
             for name, ends in RANGES.items()}
    return {name: ratios for name, ratios in found.items() if None not in ratios.values()}


def print_table(rows: list[dict], summary: dict) -> None:
    print("\nexact perplexity per character: "
          + ", ".join(f"{value:.3f}" for value in summary["exact_perplexity"].values()))
    print(f"{'':28}{'ranks':>6}{'seeds':>6}{'NMSE':>10}{'perplexity':>12}{'95 % interval':>24}{'top-1':>9}"
          f"{'KL, nats':>11}")
    for row in rows:
        print(f"{row['way']:28}{row['ranks']:6}{row['seeds']:6}{row['nmse']:10.1e}{row['perplexity_change']:+12.3%}"
              f"{row['change_low']:+14.3%} to{row['change_high']:+8.3%}{row['top1_agreement']:9.2%}"
              f"{row['kl_nats']:11.1e}")
    print(f"\n{'ratio to the NMSE':28}{'rows':>6}{'KL: median':>12}{'range':>16}{'spread':>8}{'perplexity':>12}"
          f"{'range':>16}{'spread':>8}")
    for name, ratios in summary["rules"].items():
        print(f"{name:28}{ratios['kl_nats']['rows']:6}" + "".join(
            f"{each['median']:12.2f}{each['lowest']:9.2f} to{each['highest']:5.2f}{each['relative_spread']:8.0%}"
            for each in (ratios["kl_nats"], ratios["perplexity_change"])))
    for limit, nmse in summary["harmless_nmse"].items():
        print(f"every configuration with an NMSE up to {nmse:.1e} costs less than {limit} of perplexity")
