"""Runs a notebook as Jupyter does: every cell ends without an error or a warning, and a figure is shown.

Usage: in_jupyter_test.py NAME. Exit code 77: skipped, because nbconvert or ipykernel is not there.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import notebook


def executed(name: str, folder: str) -> list[dict]:
    """The cells of a notebook, with their outputs. Settings and kernels of the user are not looked at."""
    own = {variable: folder for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
                                             "IPYTHONDIR")}
    environment = {**os.environ, **own, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}  # which warns of what is not debugged
    environment.pop("MPLBACKEND", None)
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--log-level=ERROR",
                    "--output-dir", folder, notebook.FOLDER / f"{name}.ipynb"], check=True, env=environment)
    return json.loads(pathlib.Path(folder, f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def main(name: str) -> int:
    missing = [module for module in ("nbconvert", "ipykernel") if not importlib.util.find_spec(module)]
    if missing:
        print(f"skipped: {sys.executable} has no {' and no '.join(missing)} (Debian: apt-get install "
              "python3-nbconvert python3-ipykernel)", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        cells = [cell for cell in executed(name, folder) if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["execution_count"] for cell in cells), "a cell was not run"
    warned = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert not warned, warned
    shown = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(shown) == 1, f"{len(shown)} figures are shown, and not one"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
