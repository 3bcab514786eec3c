#!/usr/bin/env bash
# Sets everything up, builds, and runs the tests. Arguments go to ctest, e.g. -R sim.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
bash tools/build.sh release
ctest --preset release -j "$(nproc)" --output-on-failure "$@"
