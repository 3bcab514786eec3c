#!/usr/bin/env bash
# Generates pages and drives them in a headless Chromium.
# Usage: browser_test.sh REPORT_PAGES_PROGRAM WORK_FOLDER. Exit code 77: skipped, because a
# dependency is not available here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1
work=$2

skip() {
  echo "skipped: $*" >&2
  exit 77
}
command -v npm >/dev/null || skip "npm is not installed (Debian: apt-get install npm)"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "Chromium is not installed (Debian: apt-get install chromium)"

mkdir -p "$work"
if ! cmp -s "$here/package-lock.json" "$work/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$work"
  npm ci --prefix "$work" --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 \
    --loglevel=error >&2 || skip "npm could not get Playwright"
  cp "$here/package-lock.json" "$work/installed-lock.json"
fi
"$program" "$work/pages"
cd "$work"
exec node "$here/browser_test.mjs" "$browser" "$work/pages"
