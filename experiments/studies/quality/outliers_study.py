"""Trainings of two architectures with outliers planted by a schedule, and healthy ones: thresholds of
monitors come from healthy trainings of other seeds."""
import argparse
import dataclasses
import functools
import io
import json
import math
import pathlib

import torch

import corpus
import monitors
import outcome
import scheme
from models import Model, Shape
from planted import ALL_LAYERS, Plant, Planted
from products_study import FOG_SHAPES, finite
from store import Cell, QualityError, fill, write_whole
from training import SHORT, NotFinite, Schedule, Trainer

SEEDS, THRESHOLD_SEEDS = (1, 2, 3), (11, 12, 13)
RATES = {"llama": 4e-3, "fog": 4e-3}  # the best of rates.py
HARM = 0.1  # nats of training loss above the healthy training of the same seed, to the end
KINDS = ("llama", "fog")
PLANTS = ("channel", "qk")
SCHEMES = {"bf16": {}, "fp8": "fog"}  # fp8: attention, too, in both architectures
CHECKPOINT = 100  # steps between checkpoints of a training


@dataclasses.dataclass(frozen=True)
class Size:
    """Shape, schedule and planted outliers of a form of the study."""

    shape: dict
    schedule: Schedule
    onset: int
    doubling: int


SIZES = {
    "reduced": Size({"layers": 2, "width": 64, "heads": 4, "ffn": 128},
                    Schedule(steps=12, every=2, sequences=2, length=32, held_out=2), 4, 1),
    "small": Size({}, dataclasses.replace(SHORT, steps=90, sequences=4, every=3, held_out=4), 36, 3),
    "large": Size({"layers": 8, "width": 512, "heads": 8, "ffn": 1408},
                  Schedule(steps=3000, every=20, sequences=32, length=256, held_out=32), 1200, 60),
}


def device_of(asked: str) -> str:
    has_gpu = torch.cuda.is_available()
    if asked == "cuda" and not has_gpu:
        raise QualityError("--device cuda: PyTorch has no GPU here; use --device cpu")
    return "cpu" if asked == "cpu" or not has_gpu else "cuda"


def checkpoint_file(folder: pathlib.Path, definition: dict) -> pathlib.Path:
    return folder / "checkpoints" / f"{outcome.digest(json.dumps(definition, sort_keys=True))}.pt"


def keep(file: pathlib.Path, trainer: Trainer, result: dict) -> None:
    stored = io.BytesIO()
    torch.save({"trainer": trainer.state(), "result": result}, stored)
    write_whole(file, stored.getvalue())


def trainer_of(folder: pathlib.Path, definition: dict, device: str) -> Trainer:
    shape, given = Shape(**definition["shape"]), scheme.from_json("scheme", definition["scheme"])
    hooks = Planted(Plant(**definition["plant"]), given, shape.layers, definition["seed"], device)
    return Trainer(shape, Schedule(**definition["schedule"]), corpus.load(folder), definition["seed"], hooks, device)


def train(folder: pathlib.Path, device: str, definition: dict) -> dict:
    """Losses and monitors at each evaluation. Continues from a checkpoint, which the end removes."""
    torch.set_num_threads(1)
    trainer, file = trainer_of(folder, definition, device), checkpoint_file(folder, definition)
    hooks = trainer.hooks
    result = {"step": [], "loss": [], "held_out": [], "seen": [], "stopped": None, "stopped_step": None}
    if file.exists():
        known = torch.load(file, map_location=device)
        trainer.restore(known["trainer"])
        result = known["result"]
    try:
        while trainer.step < trainer.schedule.steps:
            hooks.step = trainer.step
            hooks.is_looking, hooks.seen = (trainer.step + 1) % trainer.schedule.every == 0, {}
            loss = trainer.advance()
            if hooks.is_looking:
                hooks.is_looking = False
                for key, value in (("step", trainer.step), ("loss", loss), ("held_out", trainer.held_out_loss()),
                                   ("seen", hooks.seen)):
                    result[key].append(value)
            if trainer.step % CHECKPOINT == 0:
                keep(file, trainer, result)
    except NotFinite as stop:
        result["stopped"], result["stopped_step"] = str(stop), trainer.step + 1
    file.unlink(missing_ok=True)
    return result


@dataclasses.dataclass(frozen=True)
class Run:
    """A training of the study."""

    kind: str
    products: str
    plant: str
    seed: int

    @property
    def name(self) -> str:
        planted = "healthy" if self.plant == "none" else f"{self.plant} grows"
        return f"{self.kind} {self.products}, {planted}, seed {self.seed}"


def runs(reduced: bool) -> list[Run]:
    """Healthy ones in FP8 for thresholds and for false alarms, planted ones in FP8, and controls in bf16."""
    seeds, others = (SEEDS[:1], THRESHOLD_SEEDS[:1]) if reduced else (SEEDS, THRESHOLD_SEEDS)
    made = []
    for kind in KINDS:
        made += [Run(kind, "fp8", "none", seed) for seed in (*others, *seeds)]
        made += [Run(kind, "fp8", plant, seed) for plant in PLANTS for seed in seeds]
        made += [Run(kind, "bf16", plant, seeds[0]) for plant in ("none", *PLANTS)]
    return made


def definition_of(run: Run, size: Size, text: str, layers: str = "all") -> dict:
    fog = FOG_SHAPES["published"] if run.kind == "fog" else {}
    shape = Shape(run.kind, **(size.shape | fog))
    schedule = dataclasses.replace(size.schedule, rate=RATES[run.kind])
    layer = ALL_LAYERS if layers == "all" and run.plant != "none" else shape.layers // 2
    plant = Plant(run.plant, size.onset, size.doubling, layer, channel=shape.width // 3)
    given = scheme.given_json(SCHEMES[run.products]) if SCHEMES[run.products] else {}
    return {"shape": dataclasses.asdict(shape), "schedule": dataclasses.asdict(schedule), "seed": run.seed,
            "plant": dataclasses.asdict(plant), "text": text,
            "scheme": scheme.arithmetic(given)}


def harmed_at(result: dict, healthy: dict) -> int | None:
    """The first evaluation from which on the loss stays HARM above the loss of the healthy training."""
    at = result["stopped_step"]
    for index in reversed(range(len(result["step"]))):
        above = result["loss"][index] - healthy["loss"][index]
        if math.isfinite(above) and above <= HARM:
            break
        at = result["step"][index]
    return at


def found(run: Run, results: dict[Run, dict], known: dict[str, float]) -> dict:
    """When a planted outlier harmed, and when each monitor warned."""
    result = results[run]
    healthy = results[Run(run.kind, run.products, "none", run.seed)]
    harmed, warned = harmed_at(result, healthy), monitors.warned_at(result, known)
    return {"harmed": harmed, "stopped": result["stopped"], "warned": warned,
            "lead": {name: None if harmed is None or step is None else harmed - step for name, step in warned.items()}}


def summary_of(results: dict[Run, dict], size: Size) -> dict:
    known = {kind: monitors.ceilings([result for run, result in results.items() if run.kind == kind and
                                      run.plant == "none" and run.seed in THRESHOLD_SEEDS]) for kind in KINDS}
    planted = {run.name: found(run, results, known[run.kind]) for run in results if run.plant != "none"}
    alarms = {kind: dict.fromkeys(monitors.MONITORS, 0) for kind in KINDS}
    for run, result in results.items():
        if run.plant == "none" and run.products == "fp8" and run.seed in SEEDS:
            for name, step in monitors.warned_at(result, known[run.kind]).items():
                alarms[run.kind][name] += step is not None
    return {"ceilings": known, "planted": planted, "false_alarms": alarms, "onset": size.onset,
            "claims": claims_of(results, planted)}


def claims_of(results: dict[Run, dict], planted: dict[str, dict]) -> dict[str, bool]:
    """The claims of README.md, in its order."""
    def of(kind, products, plant):
        return [planted[run.name] for run in results if (run.kind, run.products, run.plant) == (kind, products, plant)]

    channel = [row for kind in KINDS for row in of(kind, "fp8", "channel")]
    return {
        "a channel that grows harms no training in bf16": all(
            row["harmed"] is None for kind in KINDS for row in of(kind, "bf16", "channel")),
        "it harms every training in FP8": all(row["harmed"] is not None for row in channel),
        "kurtosis warns before it harms": all((row["lead"]["kurtosis"] or 0) > 0 for row in channel),
        "queries and keys that grow harm llama in FP8 and bf16": all(
            row["harmed"] is not None for products in SCHEMES for row in of("llama", products, "qk")),
        "they do not harm fog": all(row["harmed"] is None for products in SCHEMES for row in of("fog", products, "qk")),
        "logits warn before they harm llama": all((row["lead"]["logits"] or 0) > 0 for row in of("llama", "fp8", "qk")),
    }


def study(chosen: argparse.Namespace) -> None:
    name = "reduced" if chosen.reduced else chosen.size
    size, device = SIZES[name], device_of(chosen.device)
    print(f"{name} form on {'the GPU' if device == 'cuda' else 'the CPU'}", flush=True)
    text = corpus.prepare(chosen.output, chosen.text, several=True)
    text.sequences(size.schedule.held_out, size.schedule.length)
    cells = {run: Cell(run.name, definition_of(run, size, text.digest(), chosen.layers)) for run in runs(chosen.reduced)}
    kept = fill(chosen.output, list(cells.values()), functools.partial(train, chosen.output, device),
                1 if device == "cuda" else chosen.threads, lambda result: result["stopped"] or
                f"held-out loss {result['held_out'][-1]:.3f}")
    results = {run: kept[cell.name] for run, cell in cells.items()}
    rows = [{"name": run.name, "step": step, "loss": result["loss"][index], "held_out": result["held_out"][index]}
            | {monitor: finite(monitors.value_of(result["seen"][index], monitor)) for monitor in monitors.MONITORS}
            for run, result in results.items() for index, step in enumerate(result["step"])]
    summary = summary_of(results, size) | {"size": name, "device": device, "layers": chosen.layers,
                                           "weights": weights_of(size)}
    outcome.write(chosen.output, "outliers", rows, summary)
    print_tables(summary)
    import pictures
    pictures.outliers(chosen.output, rows, summary)


def weights_of(size: Size) -> int:
    return sum(weight.numel() for weight in Model(Shape("llama", **size.shape), 1).parameters())


def print_tables(summary: dict) -> None:
    print(f"\n{'step in which it':40}{'harmed':>8}" + "".join(f"{name:>11}" for name in monitors.MONITORS) + " warned")
    for name, row in summary["planted"].items():
        print(f"{name:40}{row['harmed'] or '-':>8}" + "".join(f"{step or '-':>11}" for step in row["warned"].values()))
    for kind, counts in summary["false_alarms"].items():
        print(f"false alarms in healthy {kind}: {counts}")
    for claim, holds in summary["claims"].items():
        print(f"  {'hit' if holds else 'miss':6}{claim}")
