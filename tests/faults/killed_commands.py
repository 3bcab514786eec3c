"""Killed commands: all that write files, each into the folder `out` of its place."""
import dataclasses
import importlib.util
import json
import pathlib
from collections.abc import Callable

from program import REPOSITORY, SMALL, Place


def nothing(_: Place) -> None:
    """Nothing to prepare."""


@dataclasses.dataclass(frozen=True)
class Command:
    """`words` after the program; `inner`: names of files that are not results and differ between
    runs."""

    words: list[str]
    prepare: Callable[[Place], None] = nothing
    program: list[str] | None = None  # instead of equarx-sim
    inner: tuple[str, ...] = ()
    is_slow: bool = False
    needs_package: bool = False

    def is_inner(self, name: str) -> bool:
        return name.startswith(self.inner) if self.inner else False


def write_config(place: Place) -> None:
    place.config(tensor={"bytes": "256 KiB"})
    (place.folder / "out").mkdir(exist_ok=True)


def write_tensor_config(place: Place) -> None:
    place.config(tensor={"bytes": "4 MiB"})
    (place.folder / "out").mkdir(exist_ok=True)


def make_out(place: Place) -> None:
    (place.folder / "out").mkdir(exist_ok=True)


def write_sweep(place: Place) -> None:
    sweep = {"base": SMALL, "axes": [
        {"key": "/topology/slice", "values": ["2x2", "4x2", "4x4"]},
        {"key": "/collectives/int8/minishards", "values": [1, 2, 4, 8]},
        {"key": "/tensor/bytes", "log_range": {"from": "16 KiB", "to": "1 MiB", "factor": 2}}]}
    (place.folder / "sweep.json").write_text(json.dumps(sweep))


def write_results(place: Place) -> None:
    """With many points, so that generating the page takes a while."""
    make_out(place)
    if not (place.folder / "many").exists():
        write_sweep(place)
        place.run("sweep", "sweep.json", "-o", "many", "-j", "1")  # points in one order


def write_tensor(place: Place) -> None:
    import numpy  # imported lazily: everything else runs without it

    make_out(place)
    if not (place.folder / "big.npy").exists():
        values = numpy.random.default_rng(1).standard_normal((8, 1 << 19))
        numpy.save(place.folder / "big.npy", values.astype("float32"))


def config_of(*words: str) -> str:
    return str(REPOSITORY.joinpath("configs", *words))


def study(name: str) -> Command:
    """A quality study in its reduced form. Its results are tables; its pictures are not covered
    here."""
    def prepare(place: Place) -> None:
        (place.folder / "text.txt").write_text("the quick brown fox jumps over a lazy dog while seven wizards brew " * 900)

    return Command(["--output", "out", "--reduced", "--text", "text.txt", "--threads", "2"], prepare,
                   program=["/usr/bin/python3", str(REPOSITORY / "experiments" / "studies" / "quality" / f"{name}.py")],
                   is_slow=True, needs_package=True)


SWEEP_OF_PYTHON = """
import equarx, json
sweep = json.load(open("sweep.json"))
equarx.sweep(sweep["base"], sweep["axes"], folder="out")
"""


COMMANDS = {
    "sweep": Command(["sweep", "sweep.json", "-o", "out"], write_sweep),
    "reproduce": Command(["reproduce", str(REPOSITORY / "experiments" / "studies" / "published" / "quickreduce"), "-o", "out"]),
    "tune": Command(["tune", "config.json", "-o", "out/best.json"], write_config),
    "calibrate": Command(["calibrate", config_of("calibrations", "made_up_chip.json"), "-o", "out/chip.json"], make_out),
    "run --trace": Command(["run", "config.json", "--trace", "out/trace.json"], write_config),
    "run --output-tensors": Command(["run", "config.json", "--output-tensors", "out", "--output-inputs"],
                                    write_tensor_config),
    "run --output-tensors of one file": Command(
        ["run", "config.json", "--output-tensors", "out/all.safetensors", "--output-inputs"], write_tensor_config),
    "quantize": Command(["quantize", "big.npy", "-o", "out/quantized.npy"], write_tensor),
    "report": Command(["report", "many/results.jsonl", "-o", "out/report.html"], write_results),
    "import": Command(["import", "hlo", config_of("programs", "transformer_v5e_4x4.hlo.txt"), "--topology", "4x4",
                       "-o", "out/step.json"], make_out),
    "export": Command(["export", "chakra", config_of("experiments", "llama3_8b_train_v6e_16.json"), "-o", "out/trace"],
                      make_out),
    "topology": Command(["topology", "--torus", "16x16", "--svg", "out/torus.svg"], make_out),
    "the Python package": Command(["-c", SWEEP_OF_PYTHON], write_sweep, program=["/usr/bin/python3"], needs_package=True),
    "study inference": study("inference"),
    "study gradients": study("gradients"),
    "study products": study("products"),
    "study rates": study("rates"),
}


def commands_here(program: pathlib.Path) -> list[str]:
    """Commands available on this machine: studies need PyTorch, and the package next to the
    program."""
    has_package = (program.parent / "python" / "equarx").is_dir()
    has_torch = importlib.util.find_spec("torch") is not None
    return [name for name, command in COMMANDS.items()
            if (has_package or not command.needs_package) and (has_torch or not command.is_slow)]
