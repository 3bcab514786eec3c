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

# shellcheck source=tests/tools/report/browser.sh
source "$here/../report/browser.sh"
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
