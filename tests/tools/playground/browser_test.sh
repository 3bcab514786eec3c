#!/usr/bin/env bash
# Assembles the playground and drives it in a headless Chromium.
# Usage: browser_test.sh PROGRAM WORK_FOLDER short|long|TEXT [PAGE]. Without PAGE, an assembled playground, the page passes
# its commands to the native PROGRAM. Exit code 77: skipped, because a dependency is not available here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../../tools/playground
program=$(realpath "$1")
work=$2
selection=$3
page=${4:+$(realpath "$4")}

skip() {
  echo "skipped: $*" >&2
  exit 77
}
command -v npm >/dev/null || skip "npm is not installed (Debian: apt-get install npm)"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "Chromium is not installed (Debian: apt-get install chromium)"

# install FOLDER PACKAGE_FOLDER: packages of package-lock.json, once for each lock.
install() {
  mkdir -p "$1"
  cmp -s "$2/package-lock.json" "$1/installed-lock.json" && return
  cp "$2/package.json" "$2/package-lock.json" "$1"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --loglevel=error >&2 ||
    skip "npm could not get the packages of $2"
  cp "$2/package-lock.json" "$1/installed-lock.json"
}
install "$work" "$here/../report"
install "$work/libraries" "$tools"

mkdir -p "$work/pages"
assemble() { node "$tools/assemble.mjs" --libraries "$work/libraries/node_modules" --version test "$@"; }
assemble --engine "$here/native_engine.js" --out "$work/pages/native.html"
printf '\0asm\1\0\0\0' >"$work/empty.wasm"
assemble --glue "$here/mock_glue.js" --wasm "$work/empty.wasm" --plain-page plain.html --out "$work/pages/mock.html"
assemble --plain-glue "$here/mock_glue.js" --plain-wasm "$work/empty.wasm" --out "$work/pages/plain.html"
assemble --out "$work/pages/none.html"
cd "$work"
exec node "$here/browser_test.mjs" "$browser" "$work/pages" "$program" "$selection" "$page"
