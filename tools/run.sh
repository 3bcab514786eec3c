#!/usr/bin/env bash
# Main job: installs the prerequisites, builds equarx-sim and the Python package, reproduces the figures of the EQuARX
# paper (arXiv 2506.17615: microbenchmarks and the prefill of Gemma 3) and draws them.
# Usage: tools/run.sh [RESULTS_FOLDER]   (default: results/equarx_paper)
set -euo pipefail
cd "$(dirname "$0")/.."
results=${1:-results/equarx_paper}

bash tools/setup.sh
[ -e build/release/equarx-sim ] ||
  echo "run: building the program, about four minutes on two cores; the first table follows immediately" >&2
bash tools/build.sh release equarx-sim equarx_python
build/release/equarx-sim run configs/experiments/allreduce_v5e_4x2.json
echo
build/release/equarx-sim reproduce experiments/studies/equarx_paper --output "$results"
/usr/bin/python3 -B tools/plot/plot.py study "$results"
