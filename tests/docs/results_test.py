"""Verifies that docs/results.md has every key that the program writes, and no other.

Runs the program on configurations that together produce all keys. A table of the page follows a
comment `<!-- results of WHAT -->` or `<!-- results of WHAT, in PATH -->`.
Usage: results_test.py EQUARX_SIM [unittest arguments]
"""
import csv
import functools
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import json_keys
import markdown
import schema

PROGRAM = ""
PAGE = markdown.ROOT / "docs" / "results.md"
RESULTS_OF = re.compile(r"^results of (\w+)(?:, in (\S+))?$")
UNITS = {"s", "B", "J", "$", "dB", "ratio", "count", "text", "bool", "FLOP", "squared", "units of the tensor", "object",
         "list", "number", ""}

SMALL = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "2x2"},
    "tensor": {"bytes": "64 KiB"},
    "collectives": [{"label": "bf16", "algorithm": "ring"},
                    {"label": "auto", "algorithm": "auto", "format": "int8"}],
}
TINY = {**SMALL, "tensor": {"bytes": "64 B"}}  # some candidates have too few elements
BROKEN = {**SMALL, "numerics": "off",
          "faults": {"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "1 us"}]}}
PREFILL = {
    "hardware": "tpu-v5e",
    "topology": {"slice": "2x2"},
    "workload": {"model": "gemma3-12b", "phase": "prefill", "tokens": 64},
    "tensor": {"sample": 0.01},
    "collectives": [{"algorithm": "ring"}],
}
UNCERTAIN = {"value": "1 us", "standard_error": "20 ns", "range": ["0 s", "2 us"], "class": "measured", "source": ""}
STEP = {
    "hardware": "tpu-v5e",
    "topology": {"torus": "4x4"},
    "mesh": {"data": 4, "fsdp": 4},
    "step": {"tasks": [
        {"name": "forward", "compute": {"time": "10 us"}},
        {"name": "bucket", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "1 MiB"}},
        {"name": "crossed", "collective": {"kind": "all-to-all", "bytes": "64 KiB",
                                           "groups": [[chip, chip ^ 5] for chip in range(16) if chip < chip ^ 5]}}]},
}
LAZY = {**STEP, "variants": [{"label": "lazy", "quantize": [{"where": {"group": "bucket"},
                                                             "when": {"uploads": 0.5, "every": 2}}]}]}
# A chip with energies, and less power than they need.
LIMITED = {"based_on": "tpu-v5e", "power_busy": "1 W", "energy_hbm": "1 nJ/B",
           **{f"energy_{kind}": "1 nJ/op" for kind in ("bf16", "fp32", "int8")}}
TRAINED = {
    "hardware": "tpu-v5e",
    "topology": {"torus": "2x2x4"},
    "mesh": {"data": 2, "tensor": 2, "fsdp": 4},
    "step": {"training": {"model": "llama3-8b", "sequence": 512, "batch": 8, "remat": "full", "weight_bytes": 2,
                          "moment_bytes": 1}},
}
STAGED = {**TRAINED, "mesh": {"data": 2, "tensor": 2, "pipeline": 4}}
CLOSED = {"config", "best_config", "axes"}  # configurations: docs/configuration.md


def program(*words: str, folder: pathlib.Path, code: int = 0) -> str:
    """Standard output of the program."""
    ran = subprocess.run([pathlib.Path(PROGRAM).resolve(), *words], cwd=folder, capture_output=True, text=True,
                         check=False)
    if ran.returncode != code:
        raise AssertionError(f"{words} ended with {ran.returncode}: {ran.stderr}")
    return ran.stdout


def npy(ranks: int, values: list[float]) -> bytes:
    """A .npy file of FP32 values with a leading axis of ranks."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({ranks}, {len(values) // ranks}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


def written(folder: pathlib.Path, config: dict) -> str:
    """The name of a file with that configuration."""
    (folder / "config.json").write_text(json.dumps(config))
    return "config.json"


OF_NCCL = {"hardware": "a100", "topology": {"switch": 4}, "tensor": {"bytes": "4 KiB"},
           "collectives": [{"algorithm": "auto", "protocol": "auto"}]}


@functools.cache
def of_run() -> frozenset[str]:
    """Keys of `run --json`."""
    found = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        chip = json.loads(program("hardware", "tpu-v5e", "--json", folder=folder))
        chip["parameters"]["hop_latency"] = UNCERTAIN
        (folder / "chip.json").write_text(json.dumps(chip))
        (folder / "nan.npy").write_bytes(npy(4, [math.nan] + (4 * 8192 - 1) * [1.0]))
        nan = {**SMALL, "tensor": {"values": {"files": ["nan.npy"]}}}
        for config, *options in ((SMALL,), (BROKEN,), (nan,), ({**SMALL, "wire_buffers": "hbm"},), (OF_NCCL,),
                                 ({**SMALL, "hardware": LIMITED},),
                                 ({**SMALL, "hardware": "./chip.json"}, "--uncertainty", "--sensitivity")):
            made = json.loads(program("run", written(folder, config), "--json", "--links", *options,
                                      "--set", "/simulation=full", folder=folder))
            found |= json_keys.paths({**made, "parameters": {"*": made["parameters"]["hop_latency"]}}, CLOSED)
    return frozenset(found)


def of_sweep() -> set[str]:
    """Keys of the lines of results.jsonl, of a study, too; keys of a run are as above."""
    sweep = {"name": "keys", "base": {**SMALL, "numerics": "off"},
             # which has no ring
             "axes": [{"key": "/topology", "values": [{"slice": "2x2"}, {"mesh": "3x3"}]}]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program("sweep", written(folder, sweep), "-o", "results", folder=folder, code=1)
        lines = (folder / "results" / "results.jsonl").read_text().splitlines()
        too_large = {**sweep, "axes": [{"key": "/tensor/bytes", "values": ["64 KiB", "64 GiB"]}]}
        program("sweep", written(folder, too_large), "-o", "too_large", folder=folder)
        lines += (folder / "too_large" / "results.jsonl").read_text().splitlines()
        study = {"title": "", "source": "", "notes": [], "experiments": [{"name": "one", "config": SMALL}], "rows": []}
        (folder / "study.json").write_text(json.dumps(study))
        program("reproduce", ".", "-o", "study", folder=folder)
        lines += (folder / "study" / "results.jsonl").read_text().splitlines()
    return {path for line in lines for path in json_keys.paths(json.loads(line), CLOSED | {"run"})}


def of_compare() -> set[str]:
    """Keys of `compare --json`; compared objects are of any kind."""
    closed = CLOSED | {f"{of}[].{side}" for of in ("configuration", "parameters") for side in "ab"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for hardware in ("tpu-v5e", "tpu-v6e"):
            made = program("run", written(folder, {**SMALL, "hardware": hardware}), "--json", folder=folder)
            (folder / f"{hardware}.json").write_text(made)
        made = program("compare", "tpu-v5e.json", "tpu-v6e.json", "--json", folder=folder)
    return json_keys.paths(json.loads(made), closed)


def of_tune() -> set[str]:
    """Keys of `tune --json`; a candidate's collective is a configuration."""
    closed = CLOSED | {f"{of}[].collective" for of in ("front", "others", "not_tried")}
    found = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for config, *options in ((SMALL,), (TINY,), ({**SMALL, "hardware": LIMITED},), (SMALL, "--budget", "1 ns"),
                                 (SMALL, "--contract", "one-rounding,no-overflow")):
            made = program("tune", written(folder, config), "--formats", "int8,bf16", "--json", *options, folder=folder)
            found |= json_keys.paths(json.loads(made), closed)
    return found


def of_step() -> set[str]:
    """Keys of `run --json` for a step."""
    found = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        elements = 64 * 3840  # of an AllReduce
        (folder / "nan.npy").write_bytes(npy(4, [math.nan] + (4 * elements - 1) * [1.0]))
        nan = {**PREFILL, "tensor": {"dtype": "fp32", "values": {"files": ["nan.npy"]}}}
        for config in ({**STEP, "values": [{"sample": 0.1}]}, LAZY, TRAINED, STAGED, PREFILL, nan, {**PREFILL, "hardware": LIMITED}):
            found |= json_keys.paths(json.loads(program("run", written(folder, config), "--uncertainty", "--sensitivity",
                                                        "--json", folder=folder)),
                                     CLOSED | {"parameters", "runs[].collectives[]", "runs[].numerics"})
    return found


def of_import() -> set[str]:
    """Keys of `import --json` for a program and for a trace; notes are texts."""
    made = program("import", "hlo", str(markdown.ROOT / "configs/programs/transformer_v5e_4x4.hlo.txt"), "--topology",
                   "4x4", "--json", "--audit", folder=markdown.ROOT)
    keys = json_keys.paths(json.loads(made), CLOSED | {"notes"})
    with tempfile.TemporaryDirectory() as name:
        program("export", "chakra", str(markdown.ROOT / "configs/experiments/buckets_v5e_16x16.json"), "-o",
                name + "/trace", folder=markdown.ROOT)
        made = program("import", "chakra", name + "/trace.0.et", "--topology", "16x16", "--json", folder=markdown.ROOT)
    return keys | json_keys.paths(json.loads(made), CLOSED | {"notes"})


def of_import_kineto() -> set[str]:
    """Keys of `import kineto --json` and `import xprof --json`; notes are texts."""
    found = set()
    for kind, name, topology in (("kineto", "fsdp_tp_h100_8", "switch:8"), ("xprof", "tensor_v5e_4x2", "4x2")):
        made = program("import", kind, str(markdown.ROOT / f"configs/profiles/{name}.json"), "--topology", topology,
                       "--json", folder=markdown.ROOT)
        found |= json_keys.paths(json.loads(made), CLOSED | {"notes"})
    return found


def of_import_msccl() -> set[str]:
    """Keys of `import msccl --json`."""
    made = program("import", "msccl", str(markdown.ROOT / "configs/schedules/allreduce_allpairs_4.xml"), "--topology",
                   "fully-connected:4", "--format", "int8", "--json", folder=markdown.ROOT)
    return json_keys.paths(json.loads(made), CLOSED)


def of_step_tune() -> set[str]:
    """Keys of `tune --json` for a step, except keys that a variant shares with a step's result."""
    closed = CLOSED | {"groups[].ways[].collective", "variants[]"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = program("tune", written(folder, STEP), "--formats", "int8,bf16", "--json", folder=folder)
    return json_keys.paths(json.loads(made), closed)


def of_layouts() -> set[str]:
    """Keys of `tune --layouts --json`; "training" is a configuration."""
    closed = CLOSED | {f"{of}.{what}" for of in ("own", "layouts[]", "runners_up[]") for what in ("axes", "training")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = program("tune", written(folder, TRAINED), "--layouts", "--axes", "fsdp,tensor", "--json", folder=folder)
    return json_keys.paths(json.loads(made), closed)


def of_advise() -> set[str]:
    """Keys of `advise --json`; a candidate's collective is a configuration."""
    closed = CLOSED | {f"{of}.collective" for of in ("plain", "quantized", "nearest")}
    large = {**SMALL, "tensor": {"bytes": "16 MiB"}}
    found = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for config, *options in ((large,), (large, "--min-sqnr", "50 dB"), (SMALL, "--contract", "one-rounding")):
            made = program("advise", written(folder, config), "--formats", "int8", "--json", *options, folder=folder)
            found |= json_keys.paths(json.loads(made), closed)
    return found


def of_gates() -> set[str]:
    """Keys of `advise --gates --json`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = written(folder, {**SMALL, "uncertainty": {"samples": 10}})
        return json_keys.paths(json.loads(program("advise", config, "--gates", "--json", folder=folder)), set())


def of_step_advice() -> set[str]:
    """Keys of "advice" in `advise --json` of a step."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        step = {**STEP, "uncertainty": {"samples": 10}}
        made = json.loads(program("advise", written(folder, step), "--formats", "int8", "--json", folder=folder))
    closed = CLOSED | {f"advice.{key}" for key in ("rules", "groups[].collective")}
    return json_keys.paths({"advice": made["advice"]}, closed) - {"advice"}


def of_reproduce() -> set[str]:
    """Columns of rows.csv."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "out"
        program("reproduce", "experiments/studies/validation", "--output", str(folder), folder=markdown.ROOT)
        with open(folder / "rows.csv", newline="", encoding="utf-8") as file:
            return set(next(csv.reader(file)))


def listed(what: str) -> dict[str, str]:
    """Keys of the page's tables, with their units."""
    found = {}
    for table in markdown.tables(markdown.text(PAGE)):
        made = RESULTS_OF.match(table.comment)
        if made and made[1] == what:
            for row in table.rows:
                for key in markdown.keys(row[0]):
                    path = f"{made[2]}.{key}" if made[2] else key
                    assert path not in found, f"{path} stands twice"
                    found[path] = row[table.columns.index("unit")]
    return found


class Results(unittest.TestCase):
    """Every key is on the page, and every key of the page exists."""

    def compare(self, what: str, real: set[str]) -> None:
        shown = set(listed(what))
        self.assertEqual(sorted(real - shown), [], "keys that docs/results.md does not have")
        self.assertEqual(sorted(shown - real), [], "keys of docs/results.md that the program does not write")

    def test_import(self):
        self.compare("import", of_import())

    def test_import_kineto(self):
        self.compare("import_kineto", of_import_kineto())

    def test_import_msccl(self):
        self.compare("import_msccl", of_import_msccl())

    def test_run(self):
        self.compare("run", set(of_run()))

    def test_the_schema_has_the_same_keys(self):
        inner = ("runs[].collectives[].", "runs[].numerics.", "parameters.")  # as of collectives
        shown = of_run() | {path for path in of_step() if not path.startswith(inner)}
        keys = {key for key in schema.keys("result") if not key.startswith("runs[].collectives[].")}
        self.assertEqual(keys, shown - {"parameters.*"})

    def test_sweep(self):
        self.compare("sweep", of_sweep())

    def test_compare(self):
        self.compare("compare", of_compare())

    def test_tune(self):
        self.compare("tune", of_tune())

    def test_step(self):
        self.compare("step", of_step())

    def test_step_tune(self):
        self.compare("step_tune", of_step_tune())

    def test_layouts(self):
        self.compare("layouts", of_layouts())

    def test_advise(self):
        self.compare("advise", of_advise())

    def test_gates(self):
        self.compare("gates", of_gates())

    def test_step_advice(self):
        self.compare("step_advice", of_step_advice())

    def test_reproduce(self):
        self.compare("reproduce", of_reproduce())

    def test_units(self):
        for what in ("run", "sweep", "compare", "step", "tune", "step_tune", "layouts", "advise", "gates", "step_advice",
                     "reproduce"):
            for key, unit in listed(what).items():
                with self.subTest(key=key):
                    self.assertIn(unit, UNITS)
                    self.assertEqual(unit == "s", key.endswith("_s"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
