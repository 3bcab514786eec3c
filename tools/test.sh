#!/usr/bin/env bash
# Sets everything up, builds, and runs the tests. Arguments go to ctest, e.g. -R sim.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
command -v chromium >/dev/null || bash tools/setup.sh chromium fonts-dejavu-core ||
  echo "test: no Chromium here; the test of the report page in a browser will be skipped" >&2
bash tools/build.sh release
ctest --preset release -j "$(nproc)" --output-on-failure "$@"
