"""How long a step of a large model takes with the gradients of each scheme: simulated, not measured."""
import json
import os
import pathlib
import shutil
import subprocess

import equarx

from store import QualityError

CONFIG = pathlib.Path(__file__).with_name("llama3_8b_nodes.json")
THROUGH_NETWORK = ("two-shot", "quickreduce")  # algorithms that the simulator sends through a network
TITLE = "Llama-3.1-8B on 8 nodes of 8 H100, of which each has 12.5 GB/s of the network"


def program() -> str:
    """Where equarx-sim is: EQUARX_SIM, beside the package, or in PATH."""
    beside = pathlib.Path(equarx.__file__).resolve().parents[2] / "equarx-sim"
    found = os.environ.get("EQUARX_SIM") or (str(beside) if beside.is_file() else shutil.which("equarx-sim"))
    if not found:
        raise QualityError("there is no equarx-sim beside the package or in PATH; set EQUARX_SIM to it")
    return found


def of(folder: pathlib.Path, schemes) -> dict[str, float]:
    """Seconds of a step by scheme, where gradients are summed over "data" in its format and by its algorithm. Schemes
    with feedback take as long as without: what it adds is not simulated."""
    config = json.loads(CONFIG.read_text())
    algorithms = {scheme.format: scheme.algorithm for scheme in schemes}
    config["variants"] = [{"label": format, "quantize": [
        {"where": {"collective": "all-reduce", "axis": "data"}, "format": format, "algorithm": algorithm}]}
        for format, algorithm in algorithms.items() if format != "fp32"]
    seconds = simulated(folder, config) if config["variants"] else {}
    if "fp32" in algorithms:
        config["variants"] = [{"label": "fp32"}]
        config["step"]["training"]["gradient_dtype"] = "fp32"
        seconds |= simulated(folder, config)
    return {scheme.name: seconds[scheme.format] for scheme in schemes}


def simulated(folder: pathlib.Path, config: dict) -> dict[str, float]:
    path = folder / "step.json"
    path.write_text(json.dumps(config))
    done = subprocess.run([program(), "run", str(path), "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise QualityError(f"the step cannot be simulated: {done.stderr.strip()}")
    return {run["label"]: run["time_s"] for run in json.loads(done.stdout)["variants"]}
