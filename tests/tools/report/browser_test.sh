#!/usr/bin/env bash
# Generates pages and drives them in a headless Chromium.
# Usage: browser_test.sh REPORT_PAGES_PROGRAM WORK_FOLDER. Exit code 77: skipped, because a
# dependency is not available here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1
work=$2

# shellcheck source=tests/tools/report/browser.sh
source "$here/browser.sh"
install "$work" "$here"
"$program" "$work/pages"
cd "$work"
exec node "$here/browser_test.mjs" "$browser" "$work/pages"
