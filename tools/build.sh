#!/usr/bin/env bash
# Usage: tools/build.sh PRESET [TARGET...]: configures and builds. Shows progress; prints the
# compiler's output only on failure.
# Without a configured build/release it uses preset `unity`, which builds the same in less than half
# the time. Developers run `cmake --preset release` once: then a change compiles its own files
# alone.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
what=${*:-everything}
targets=()
[ $# -eq 0 ] || targets=(--target "$@")

cache=build/release/CMakeCache.txt
if [ "$preset" = release ] && { [ ! -e "$cache" ] || grep -q '^CMAKE_UNITY_BUILD:.*=ON' "$cache"; }; then
  preset=unity
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Reads ninja's output: "[12/64] Building CXX object sim/CMakeFiles/equarx_sim.dir/machine.cpp.o".
# On a terminal it rewrites one line; elsewhere, as in logs, it prints a line every ten seconds.
show_progress() {
  local line step pattern='^\[([0-9]+)/([0-9]+)\] (.*)' last=0 left
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ $pattern ]] || continue
    local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} doing=${BASH_REMATCH[3]}
    left=""
    # The first steps are not representative.
    if [ $((done * 10)) -ge "$all" ] && [ "$done" -lt "$all" ] && [ "$SECONDS" -ge 5 ]; then
      left=", about $(clock $((SECONDS * (all - done) / done))) left"
    fi
    step="build: $done of $all steps, $(clock "$SECONDS")$left: ${doing/CMakeFiles\/*.dir\//}"
    if [ -t 2 ]; then
      printf '\r\033[K%s' "${step:0:$((${COLUMNS:-$(tput cols 2>/dev/null || echo 80)} - 1))}" >&2
    elif [ $((SECONDS - last)) -ge 10 ]; then
      last=$SECONDS
      printf '%s\n' "$step" >&2
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

echo "build: $what (preset $preset)" >&2
SECONDS=0
: >"$log"
if ! cmake --build --preset "$preset" "${targets[@]}" 2>&1 | show_progress; then
  # Output from the first failure on, without the successful steps.
  if grep -q '^FAILED:' "$log"; then sed -n '/^FAILED:/,$p' "$log" | grep -v '^\[[0-9]*/[0-9]*\]' >&2
  else cat "$log" >&2; fi
  echo "build: $what failed" >&2
  exit 1
fi
echo "build: $what done in $(clock "$SECONDS")" >&2
