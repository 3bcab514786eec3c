#!/usr/bin/env bash
# Writes the npm package's model, and its embeddings of the first COUNT (or all) sentences, to OUTPUT_DIR.
# Usage: encoder.sh OUTPUT_DIR SENTENCES_FILE [COUNT]
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ] || [[ $1 == -* ]] || ! [[ ${3:-1} =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: bash tools/activations/encoder.sh OUTPUT_DIR SENTENCES_FILE [COUNT]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/packages.sh"
mkdir -p "$1" || exit 2
node "$here/encoder.js" "$@"
