#!/usr/bin/env bash
# Usage: tools/build.sh PRESET [TARGET...]: configures and builds, quietly unless something is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
echo "build: preset $preset" >&2
if [ $# -gt 0 ]; then
  cmake --build --preset "$preset" --target "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
else
  cmake --build --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
