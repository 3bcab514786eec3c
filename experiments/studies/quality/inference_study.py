"""Trains a model once, and evaluates it as tensor parallelism computes it, with the AllReduces of
every format."""
import argparse
import dataclasses
import functools
import io
import json
import math
import pathlib

import numpy as np
import torch

import corpus
import outcome
from models import Hooks, Model, Shape
from store import Cell, fill, write_whole
from tensor_parallel import Parallel, Way, check_divides
from training import Schedule, Trainer

BATCH = 64  # sequences at once: 8192 tokens, the size of a prefill
GROUPS_OF_128 = {"layout": "contiguous", "block": 128}
BAD = "int4, one scale for 32768"


def ways() -> list[Way]:
    semi = {"ring": "semi-loop"}
    return [
        Way("fp32", "fp32", sends="fp32"), Way("bf16", "bf16"),
        Way("int8", "int8"), Way("int8, semi-loop", "int8", semi),
        Way("int8 by 128", "int8", GROUPS_OF_128), Way("int8 by 128, semi-loop", "int8", GROUPS_OF_128 | semi),
        Way("int6 by 128", "int6", GROUPS_OF_128),
        Way("int4 by 128", "int4", GROUPS_OF_128), Way("int4 by 128, semi-loop", "int4", GROUPS_OF_128 | semi),
        Way("fp8-e4m3 by 128", "fp8-e4m3", GROUPS_OF_128),
        Way("mxfp8-e4m3", "mxfp8-e4m3"), Way("mxfp6-e2m3", "mxfp6-e2m3"), Way("mxfp4", "mxfp4"), Way("nvfp4", "nvfp4"),
        Way("quickreduce-int8", "quickreduce-int8"), Way("quickreduce-int4", "quickreduce-int4"),
        Way("zeropp-int8", "zeropp-int8"), Way("zeropp-int4", "zeropp-int4"),
        Way(BAD, "int4", {"layout": "contiguous", "block": 32768}),
    ]


def weights_file(folder: pathlib.Path, definition: dict) -> pathlib.Path:
    """File of the model trained by a definition, in the folder of its cell."""
    return model_cell(definition).file(folder).with_suffix(".pt")


def model_cell(definition: dict) -> Cell:
    return Cell("model", definition)


def train(folder: pathlib.Path, definition: dict) -> dict:
    torch.set_num_threads(1)
    trainer = Trainer(Shape(**definition["shape"]), Schedule(**definition["schedule"]), corpus.load(folder),
                      definition.get("seed", 1))
    while trainer.step < trainer.schedule.steps:
        loss = trainer.advance()
        if trainer.step % 50 == 0:
            print(f"  training, step {trainer.step} of {trainer.schedule.steps}: loss {loss:.3f}", flush=True)
    weights = io.BytesIO()
    torch.save(trainer.model.state_dict(), weights)
    write_whole(weights_file(folder, definition), weights.getvalue())
    return {"held_out": trainer.held_out_loss()}


class Exact:
    """The trained model, its evaluation text, and its exact predictions."""

    def __init__(self, folder: pathlib.Path, definition: dict):
        self.model = Model(Shape(**definition["shape"]), 1)
        self.model.load_state_dict(torch.load(weights_file(folder, definition), weights_only=True))
        sequences = corpus.load(folder).sequences(definition["sequences"], definition["schedule"]["length"])
        self.batches = sequences.split(BATCH)
        self.logits = list(self.logits_with(Hooks()))

    def logits_with(self, hooks: Hooks):
        """Log-probabilities of all next characters, batch by batch."""
        with torch.no_grad():
            for batch in self.batches:
                yield self.model(batch[:, :-1], hooks).log_softmax(-1)


@functools.lru_cache(maxsize=1)
def exact(folder: pathlib.Path, definition: str) -> Exact:
    """The model of a definition, given as JSON; cached per process."""
    return Exact(folder, json.loads(definition))


def evaluate(folder: pathlib.Path, definition: dict) -> dict:
    """Per sequence: negative log-likelihood of it and of the exact model, share of equal choices,
    and the Kullback-Leibler divergence from the exact model's probabilities, in nats per character."""
    torch.set_num_threads(1)
    known = exact(folder, json.dumps(definition["model"]))
    hooks = Parallel(known.model.shape, definition["ranks"], Way(**definition["way"]), definition["only"])
    result = {"nll": [], "exact_nll": [], "top1": [], "kl": []}
    for batch, right, got in zip(known.batches, known.logits, known.logits_with(hooks)):
        for name, logits in (("exact_nll", right), ("nll", got)):
            result[name] += (-logits.gather(-1, batch[:, 1:, None])[..., 0]).mean(1).tolist()
        result["top1"] += (right.argmax(-1) == got.argmax(-1)).float().mean(1).tolist()
        result["kl"] += (right.exp() * (right - got)).sum(-1).mean(1).tolist()
    result["nmse"] = hooks.nmse()
    result["nmse_by_place"] = {where: float(np.mean(values)) for where, values in hooks.errors.items()}
    result["tails"] = hooks.tails
    return result


def mean_and_interval(values) -> tuple[float, float]:
    """Mean over sequences, and half of its 95 % interval."""
    values = np.asarray(values)
    return float(values.mean()), float(1.96 * values.std(ddof=1) / math.sqrt(len(values)))


def row_of(name: str, definition: dict, result: dict) -> dict:
    """A row of the table. The change of perplexity is paired: the same sequences with and without
    quantization."""
    change, half = mean_and_interval(np.subtract(result["nll"], result["exact_nll"]))
    return {"name": name, "way": definition["way"]["name"], "ranks": definition["ranks"],
            "only": definition["only"] or "", "nmse": result["nmse"],
            "perplexity": math.exp(np.mean(result["nll"])),
            "perplexity_change": math.expm1(change),
            "change_low": math.expm1(change - half), "change_high": math.expm1(change + half),
            "top1_agreement": float(np.mean(result["top1"])), "kl_nats": float(np.mean(result["kl"]))}


def harmless(rows: list[dict], limit: float) -> float:
    """The largest NMSE up to which the perplexity of every configuration grows by less than
    `limit`, by the upper end of its interval."""
    best = 0.0
    for row in sorted(rows, key=lambda row: row["nmse"]):
        if row["change_high"] >= limit:
            break
        best = row["nmse"]
    return best


def definitions(model: dict, shape: Shape, reduced: bool) -> dict[str, dict]:
    """All evaluations of a model's definition, by name: configurations by number of ranks, and at a
    single place only."""
    ranks = (2, 8) if reduced else (2, 4, 8, 16)
    chosen = [way for way in ways() if not reduced or way.name in ("bf16", "int8 by 128", BAD)]
    cells = {}

    def add(name: str, way: Way, count: int, only: str | None = None) -> None:
        cells[name] = {"model": model, "way": dataclasses.asdict(way), "ranks": count, "only": only}

    for count in ranks:
        check_divides(shape, count)
        for way in chosen:
            add(f"{way.name} over {count}", way, count)
    places = [f"{layer}/{half}" for layer in range(shape.layers) for half in ("out", "down")]
    for way in chosen:
        if way.name in ("int8 by 128", "int4 by 128"):
            for place in places:
                add(f"{way.name} over 8 in {place}", way, 8, place)
    return cells


def study(chosen: argparse.Namespace) -> None:
    shape = Shape(layers=2, width=64, ffn=128) if chosen.reduced else Shape()
    schedule = Schedule(steps=20, held_out=4) if chosen.reduced else Schedule(steps=800)
    text = corpus.prepare(chosen.output, chosen.text)
    common = {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule),
              "sequences": 8 if chosen.reduced else 256, "text": text.digest()}
    text.sequences(common["sequences"], schedule.length)
    cells = [Cell(name, definition) for name, definition in definitions(common, shape, chosen.reduced).items()]
    held_out = fill(chosen.output, [model_cell(common)], functools.partial(train, chosen.output), 1,
                    lambda result: f"held-out loss {result['held_out']:.3f}")["model"]["held_out"]
    results = fill(chosen.output, cells, functools.partial(evaluate, chosen.output), chosen.threads,
                   lambda result: f"NMSE {result['nmse']:.1e}, KL {np.mean(result['kl']):.1e}")
    rows = [row_of(cell.name, cell.definition, results[cell.name]) for cell in cells]
    everywhere = [row for row in rows if not row["only"]]
    summary = {"exact_perplexity": math.exp(np.mean(results[cells[0].name]["exact_nll"])), "held_out_loss": held_out,
               "harmless_nmse": {f"{limit:.1%}": harmless(everywhere, limit) for limit in (0.001, 0.01)},
               "tails": results["bf16 over 8"]["tails"], "settings": common}
    outcome.write(chosen.output, "inference", rows, summary)
    print_table(everywhere, summary)
    import pictures
    pictures.inference(chosen.output, rows)


def print_table(rows: list[dict], summary: dict) -> None:
    print(f"\nexact perplexity {summary['exact_perplexity']:.3f} per character")
    print(f"{'':28}{'ranks':>6}{'NMSE':>10}{'perplexity':>12}{'95 % interval':>24}{'top-1':>9}{'KL, nats':>11}")
    for row in rows:
        print(f"{row['way']:28}{row['ranks']:6}{row['nmse']:10.1e}{row['perplexity_change']:+12.3%}"
              f"{row['change_low']:+14.3%} to{row['change_high']:+8.3%}{row['top1_agreement']:9.2%}"
              f"{row['kl_nats']:11.1e}")
    for limit, nmse in summary["harmless_nmse"].items():
        print(f"every configuration with an NMSE up to {nmse:.1e} costs less than {limit} of perplexity")
