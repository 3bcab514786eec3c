#!/usr/bin/env bash
# Sets everything up, builds, and runs the tests: in some two minutes all but those that take five seconds or more each,
# which tools/check.sh runs, too. Arguments go to ctest, which then has all tests to choose from: tools/test.sh -R sim,
# or for all of them tools/test.sh -R .
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
# What the studies of quality need: PyTorch, a BLAS that is not the slow reference one, and a text.
{ /usr/bin/python3 -c "import torch" && [ -e /usr/share/doc/anarchism/html ] && dpkg -s libopenblas0-pthread; } >/dev/null 2>&1 ||
  bash tools/setup.sh python3-torch libopenblas0-pthread anarchism ||
  echo "test: no PyTorch here; the tests of the studies of quality will be skipped" >&2
command -v chromium >/dev/null || bash tools/setup.sh chromium fonts-dejavu-core ||
  echo "test: no Chromium here; the test of the report page in a browser will be skipped" >&2
# Of the interpreter that the Python package is built for.
/usr/bin/python3 -c "import ipykernel, nbconvert" 2>/dev/null || bash tools/setup.sh python3-ipykernel python3-nbconvert ||
  echo "test: no nbconvert here; notebooks will be run as scripts, but not in Jupyter" >&2
bash tools/build.sh release
[ $# -gt 0 ] || set -- --label-exclude '^long$'
ctest --preset release -j "$(nproc)" --output-on-failure "$@"
