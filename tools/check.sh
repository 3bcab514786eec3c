#!/usr/bin/env bash
# What a change must pass besides tools/test.sh: formatting, the other compiler, the sanitizers, a look at
# every benchmark program, and an installation.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang clang-format libclang-rt-14-dev
jobs=$(nproc)

echo "check: clang-format" >&2
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# With the other compiler: the program and the tests of its lower rooms, instrumented; and optimised what
# depends on a compiler's arithmetic. Not the tests of experiments/ and tools/, which take longest to compile, and
# reach the same code by way of the configuration.
rooms="collective_laws collectives formats hardware numerics os sim tensors topologies units values workloads"
tests=${rooms// /_test }_test
# shellcheck disable=SC2086
bash tools/build.sh asan equarx-sim $tests
# Memory cannot be measured there, and statistics over many elements show nothing that the oracles' tests do not.
ctest --preset asan -j "$jobs" --no-tests=error -R "^(${rooms// /|})_test:" -E "memory|errs|theory|timing of"

bash tools/build.sh clang numerics_test values_test
ctest --preset clang -j "$jobs" --no-tests=error -R '^(numerics|values)_test:'

echo "check: fuzzing the tensor readers" >&2
bash tools/build.sh fuzz fuzzers
ctest --preset fuzz -j "$jobs" --no-tests=error -R '^fuzz '

echo "check: benchmark programs start" >&2
for program in build/release/tests/benchmarks/*_benchmark; do
  "$program" --benchmark_list_tests >/dev/null
done

echo "check: installation" >&2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install build/release --prefix "$prefix" >/dev/null
(cd / && "$prefix/bin/equarx-sim" validate "$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json")
