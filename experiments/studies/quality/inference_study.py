"""Trains a model from three seeds, and evaluates it as tensor parallelism computes it, with the AllReduces of every
format."""
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
from inference_table import harmless, over_models, print_table, row_of, rules
from models import Hooks, Model, Shape
from store import Cell, fill, write_whole
from tensor_parallel import Parallel, Way, check_divides
from training import Schedule, Trainer

BATCH = 64  # sequences at once: 8192 tokens, the size of a prefill
GROUPS_OF_128 = {"layout": "contiguous", "block": 128}
BAD = "int4, one scale for 32768"
SEEDS = (1, 2, 3)
# The first model has all configurations; the others have these, over these ranks.
OF_EVERY_SEED = ("bf16", "int8", "int8 by 128", "int8 by 128, semi-loop", "int6 by 128", "fp8-e4m3 by 128",
                 "mxfp8-e4m3", "int4 by 128", "nvfp4", "mxfp4")
OTHER_RANKS = (2, 16)


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


def definitions(models: dict[int, dict], shape: Shape, reduced: bool) -> dict[str, dict]:
    """All evaluations of models by seed, by name: configurations by number of ranks, and with the first model at a
    single place only."""
    chosen = [way for way in ways() if not reduced or way.name in ("bf16", "int8 by 128", BAD)]
    first, *others = models
    cells = {}

    def add(way: Way, seed: int, count: int, only: str | None = None) -> None:
        check_divides(shape, count)
        cells[f"{way.name} over {count}{f' in {only}' if only else ''}, seed {seed}"] = {
            "model": models[seed], "way": dataclasses.asdict(way), "ranks": count, "only": only}

    for count in (2, 8) if reduced else (2, 8, 16):
        for way in chosen:
            add(way, first, count)
    for seed in others:
        for count in OTHER_RANKS:
            for way in chosen:
                if way.name in OF_EVERY_SEED:
                    add(way, seed, count)
    places = [f"{layer}/{half}" for layer in range(shape.layers) for half in ("out", "down")]
    for way in chosen:
        if way.name in ("int8 by 128", "int4 by 128"):
            for place in places:
                add(way, first, 8, place)
    return cells


def settings_of(reduced: bool, digest: str) -> dict:
    shape = Shape(layers=2, width=64, ffn=128) if reduced else Shape()
    schedule = Schedule(steps=20, held_out=4) if reduced else Schedule(steps=400)
    return {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule),
            "sequences": 8 if reduced else 256, "text": digest}


def study(chosen: argparse.Namespace) -> None:
    text = corpus.prepare(chosen.output, chosen.text)
    common = settings_of(chosen.reduced, text.digest())
    text.sequences(common["sequences"], common["schedule"]["length"])
    models = {seed: common | {"seed": seed} for seed in (SEEDS[:2] if chosen.reduced else SEEDS)}
    trained = [dataclasses.replace(model_cell(model), name=f"model of seed {seed}") for seed, model in models.items()]
    held_out = fill(chosen.output, trained, functools.partial(train, chosen.output), chosen.threads,
                    lambda result: f"held-out loss {result['held_out']:.3f}")
    cells = [Cell(name, definition)
             for name, definition in definitions(models, Shape(**common["shape"]), chosen.reduced).items()]
    results = fill(chosen.output, cells, functools.partial(evaluate, chosen.output), chosen.threads,
                   lambda result: f"NMSE {result['nmse']:.1e}, KL {np.mean(result['kl']):.1e}")
    rows = {cell.name: row_of(cell.name, cell.definition, results[cell.name]) for cell in cells}
    everywhere = [row for row in rows.values() if not row["only"]]
    ways_of_all = over_models([(row, results[row["name"]]) for row in everywhere])
    of_every_seed = [row for row in ways_of_all if row["seeds"] == len(models)]
    summary = {"exact_perplexity": {cell.definition["model"]["seed"]: math.exp(np.mean(results[cell.name]["exact_nll"]))
                                    for cell in cells},
               "held_out_loss": {name: result["held_out"] for name, result in held_out.items()},
               "ways": ways_of_all, "rules": rules(everywhere),
               "harmless_nmse": {f"{limit:.1%}": harmless(of_every_seed, limit) for limit in (0.001, 0.01)},
               "tails": results["bf16 over 8, seed 1"]["tails"], "settings": common}
    outcome.write(chosen.output, "inference", list(rows.values()), summary)
    print_table(ways_of_all, summary)
    import pictures
    pictures.inference(chosen.output, ways_of_all, list(rows.values()))
