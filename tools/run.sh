#!/usr/bin/env bash
# The main job: sets everything up, builds equarx-sim, reproduces the figures of the EQuARX paper (arXiv
# 2506.17615), its microbenchmarks and the prefill of Gemma 3, and draws their pictures. Results go to
# results/equarx_paper, or to the folder given.
set -euo pipefail
cd "$(dirname "$0")/.."
results=${1:-results/equarx_paper}

bash tools/setup.sh
[ -e build/release/equarx-sim ] ||
  echo "run: building the program, which takes some four minutes on two cores; the first table follows at once" >&2
bash tools/build.sh release equarx-sim
build/release/equarx-sim run configs/experiments/allreduce_v5e_4x2.json
echo
build/release/equarx-sim reproduce experiments/equarx_paper --output "$results"
/usr/bin/python3 -B tools/plot/plot.py study "$results"
