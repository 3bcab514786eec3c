#!/usr/bin/env bash
# What a change must pass besides tools/test.sh: what can be seen without running anything, the tests that take long, the
# other compiler, the sanitizers, a look at every benchmark program, and an installation.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang libclang-rt-14-dev
jobs=$(nproc)

bash tools/lint.sh

bash tools/build.sh release
ctest --preset release -j "$jobs" --no-tests=error --output-on-failure --label-regex '^long$'

# With the other compiler: the program and the tests of all rooms, instrumented. Not those of laws across rooms, which
# take longest and reach the same code.
rooms="advise calibrate chakra collective_laws collectives compare config engines formats hardware hlo imports input inspect numerics os output pages plan process \
report request result run schedules sim step steps study support sweep tensors topologies trace tune tune_step units values workloads"
# The program by its command line: what needs no simulation there, since the sanitizer warns on standard error, where
# these tests expect nothing, of the way in which SimGrid changes stacks.
commands="validate|option|hardware|topology|a wrong|a file|files|every kind|quantize refuses|report refuses|wrong"
# shellcheck disable=SC2086
bash tools/build.sh asan equarx-sim cli_test ${rooms// /_test }_test fuzzers
# Memory cannot be measured there, the sanitizer itself needs a file descriptor, and statistics over many elements
# show nothing that the oracles' tests do not. Six tests take half a minute or more each.
ctest --preset asan -j "$jobs" --no-tests=error -R "^(${rooms// /|})_test:" \
  -E "memory|errs|theory|timing of|no file descriptors left|built-in chip again|noisy measurements|few bits on many|worth quantizing|every way breaks|10,000 rows"
ctest --preset asan -j "$jobs" --no-tests=error -R "^cli_test: ?($commands)"

# Optimised: what depends on a compiler's arithmetic. One file takes it minutes, beside which there is a core for more.
bash tools/build.sh clang numerics_test values_test &
optimised=$!

# What has threads: those that compute values and those that work side by side. Nothing that forks, and so nothing of
# SimGrid. Where addresses are more random than the sanitizer expects, it cannot start; who may not change that goes on
# as it is.
fixed=()
if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
"${fixed[@]}" bash tools/build.sh tsan process_test tensors_test values_test
"${fixed[@]}" ctest --preset tsan -j "$jobs" --no-tests=error -E "worker" \
  -R '^process_test:|^(tensors|values)_test:.*(thread|ranks share|come to know)'

wait "$optimised"
ctest --preset clang -j "$jobs" --no-tests=error -R '^(numerics|values)_test:'

echo "check: fuzzing all readers" >&2
ctest --preset asan -j "$jobs" --no-tests=error -R '^fuzz '

echo "check: benchmark programs start" >&2
for program in build/release/tests/benchmarks/*_benchmark; do
  "$program" --benchmark_list_tests >/dev/null
done

echo "check: installation" >&2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install build/release --prefix "$prefix" >/dev/null
(cd / && "$prefix/bin/equarx-sim" validate "$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json")
# SimGrid's module is found there, too.
(cd / && "$prefix/bin/equarx-sim" run "$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json" \
  --set /engine=simgrid --set /numerics=off)
(cd / && "$prefix/bin/equarx-plot" --help >/dev/null)
