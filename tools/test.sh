#!/usr/bin/env bash
# Sets everything up, builds, and runs the short tests, in five to ten minutes on two cores;
# tools/nightly.sh runs the long ones, too. Arguments go to ctest, which then selects among all
# tests: tools/test.sh -R sim, or for all of them tools/test.sh -R .
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
# Needed by the quality studies: PyTorch, an optimized BLAS instead of the slow reference one, and a
# text.
{ /usr/bin/python3 -c "import torch" && [ -e /usr/share/doc/anarchism/html ] && dpkg -s libopenblas0-pthread; } >/dev/null 2>&1 ||
  bash tools/setup.sh python3-torch libopenblas0-pthread anarchism ||
  echo "test: no PyTorch here; the tests of the quality studies are skipped" >&2
command -v chromium >/dev/null || bash tools/setup.sh chromium fonts-dejavu-core ||
  echo "test: no Chromium here; the browser tests of the report page and the playground are skipped" >&2
# Packages of the interpreter that the Python package is built for.
/usr/bin/python3 -c "import ipykernel, nbconvert" 2>/dev/null || bash tools/setup.sh python3-ipykernel python3-nbconvert ||
  echo "test: no nbconvert here; notebooks run as scripts, but not in Jupyter" >&2
bash tools/build.sh release
[ $# -gt 0 ] || set -- --label-exclude '^long$'
ctest --preset release -j "$(nproc)" --output-on-failure "$@"
