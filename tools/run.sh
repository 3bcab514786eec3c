#!/usr/bin/env bash
# The main job: sets everything up, builds equarx-sim, and compares an int8 EQuARX AllReduce with a BF16
# AllReduce on a simulated TPU v5e 4x2 slice.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
bash tools/build.sh release equarx-sim
build/release/equarx-sim run configs/experiments/allreduce_v5e_4x2.json "$@"
