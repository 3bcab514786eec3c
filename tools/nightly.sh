#!/usr/bin/env bash
# Everything, once a day: the gate (.ci/run), and all checks that take too long for it. Prints the
# minutes of each step; a step that fails does not stop the others. Exit code 1 if any failed.
# Usage: tools/nightly.sh [STEP...]   (default: all; --list prints the steps)
# EQUARX_FUZZ_SECONDS (default 600) is the time of each fuzz target, EQUARX_CAMPAIGN_CASES (default 2000) the length of
# the campaign, EQUARX_KILLS (default 100) the number of kills.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

jobs=$(nproc)
fuzz_seconds=${EQUARX_FUZZ_SECONDS:-600}
cases=${EQUARX_CAMPAIGN_CASES:-2000}
kills=${EQUARX_KILLS:-100}

# --- steps: one function each, named step_NAME; its first comment line is its description -----------------------------

step_test() {  # release build (unity) and every test, long ones included: studies, notebooks, browser, pictures, faults
  bash tools/test.sh -R .
}

step_promises() {  # contracts of every algorithm in many formats on 2 to 16 ranks, against what values show
  bash tools/build.sh release invariants_test && build/release/tests/invariants/invariants_test "[nightly]"
}

step_check() {  # the second half of the gate
  EQUARX_BASE=HEAD bash tools/check.sh
}

step_tidy() {  # clang-tidy over every translation unit
  bash tools/lint.sh --all
}

step_headers() {  # g++ release build without unity: each file includes everything it uses
  cmake -S . -B build/files --preset release >/dev/null && cmake --build build/files
}

step_clang() {  # clang release build of everything, and its tests
  bash tools/build.sh clang &&
    ctest --preset clang -j "$jobs" --no-tests=error --label-exclude '^long$' -E '^(docs|plot|python|notebooks)'
}

# SimGrid switches stacks, on which the address sanitizer warns on standard error. Excluded:
# command-line tests that expect an empty one, memory and descriptor limits, and statistics over
# many elements.
step_asan() {  # address and undefined-behaviour sanitizers over all C++ tests
  bash tools/build.sh asan &&
    ctest --preset asan -j "$jobs" --no-tests=error --timeout 900 -R '_test:' \
      -E "^(cli|tune|advise|support)_test|memory|errs|theory|timing of|(no|free) file descriptors|10,000 rows" &&
    ctest --preset asan -j "$jobs" --no-tests=error --timeout 900 -R '^replay ' &&
    ctest --preset asan -j "$jobs" --no-tests=error --timeout 900 -E 'in place of a name|--links requires' \
      -R '^cli_test: ?(validate|option|hardware|topology|a wrong|a file|files|quantize refuses|report refuses|wrong)'
}

step_tsan() {  # thread sanitizer over multithreaded tests; not over SimGrid, which forks
  local fixed=()  # the sanitizer cannot start under full address space randomisation
  if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
  "${fixed[@]}" bash tools/build.sh tsan os_test process_test tensors_test values_test &&
    "${fixed[@]}" ctest --preset tsan -j "$jobs" --no-tests=error -E "worker|memory is short" \
      -R '^process_test:|^(os|tensors|values)_test:.*(thread|parallel|share)'
}

step_fuzz() {  # every reader, EQUARX_FUZZ_SECONDS each; inputs found stay in build/fuzz/tests/fuzz/corpus/*.found
  cmake --preset fuzz -DEQUARX_FUZZ_SECONDS="$fuzz_seconds" >/dev/null &&
    bash tools/build.sh fuzz fuzzers &&
    ctest --preset fuzz -j "$jobs" --no-tests=error --timeout $((fuzz_seconds + 600)) -R '^fuzz '
}

step_campaign() {  # random configurations, each checked against invariants
  bash tools/campaign.sh --cases "$cases" --seed "$(date +%Y%m%d)"
}

step_faults() {  # full disks, signals, limits and kills
  bash tools/build.sh release equarx-sim equarx_python &&
    /usr/bin/python3 -B tests/faults/run.py --kills "$kills" build/release/equarx-sim
}

step_benchmarks() {  # every benchmark, once and briefly
  local program
  bash tools/build.sh release benchmarks || return 1
  for program in build/release/tests/benchmarks/*_benchmark; do
    "$program" --benchmark_min_time=0.01 || return 1
  done
}

step_table() {  # times and memory of docs/speed.md, compared with the kept ones
  bash tests/benchmarks/table.sh --tolerance 1.5
}

step_playground() {  # the playground: its engine against the program, and every question in a browser
  bash tools/playground.sh && bash tools/build.sh release equarx-sim || return 1
  local kind
  for kind in simd plain; do
    node --no-experimental-fetch tests/tools/playground/equal_test.mjs build/release/equarx-sim "build/web/$kind" || return 1
  done
  bash tests/tools/playground/browser_test.sh build/release/equarx-sim build/playground/test long build/playground/index.html
}

step_packages() {  # .deb, wheel and sdist, each in a clean Debian root; the container image where a Docker daemon runs
  local kind
  for kind in deb wheel sdist; do bash tools/package.sh "$kind" || return 1; done
  bash tests/packages/clean_roots.sh build/packages || return 1
  if docker info >/dev/null 2>&1; then
    bash tools/package.sh image && docker run --rm equarx-sim --version
  else
    echo "nightly: no Docker daemon; the image was not built" >&2
  fi
}

# ----------------------------------------------------------------------------------------------------------------------

all=$(sed -n 's/^step_\([a-z]*\)() {.*/\1/p' "$0")
if [ "${1:-}" = --list ]; then
  sed -n 's/^step_\([a-z]*\)() {  # \(.*\)/\1: \2/p' "$0"
  exit 0
fi
failed=()
# shellcheck disable=SC2048
for step in ${*:-$all}; do
  case " ${all//$'\n'/ } " in
    *" $step "*) ;;
    *) echo "nightly: unknown step '$step'; --list prints the steps" >&2; exit 2 ;;
  esac
  echo "nightly: $step" >&2
  SECONDS=0
  "step_$step" || failed+=("$step")
  printf 'nightly: %s took %d:%02d\n' "$step" $((SECONDS / 60)) $((SECONDS % 60)) >&2
done
[ ${#failed[@]} -eq 0 ] || { echo "nightly: failed: ${failed[*]}" >&2; exit 1; }
echo "nightly: all steps passed" >&2
