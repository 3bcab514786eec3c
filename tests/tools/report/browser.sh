# shellcheck shell=bash disable=SC2034
# Set-up of browser tests, to be sourced. Exit code 77: skipped, because a dependency is not available here.
# Sets `browser`.

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
