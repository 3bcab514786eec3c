#!/usr/bin/env bash
# What a change must pass besides tools/test.sh: formatting, the other compiler, the sanitizers, a look at
# every benchmark program, and an installation.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang clang-format libclang-rt-14-dev
jobs=$(nproc)

echo "check: clang-format" >&2
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# Everything with the other compiler, instrumented; and optimised what depends on the compiler's arithmetic.
bash tools/build.sh asan
# Not the command line's tests, which look at standard error: the sanitizer warns there when SimGrid changes
# stacks. Nor what only repeats at length what other tests run.
ctest --preset asan -j "$jobs" -E "^(cli_test|pictures|the paper's study|the report page|sweeps)"

bash tools/build.sh clang numerics_test values_test
ctest --preset clang -j "$jobs" -R '^(numerics|values)_test: '

echo "check: fuzzing the tensor readers" >&2
bash tools/build.sh fuzz fuzzers
ctest --preset fuzz -R '^fuzz '

echo "check: benchmark programs start" >&2
for program in build/release/tests/benchmarks/*_benchmark; do
  "$program" --benchmark_list_tests >/dev/null
done

echo "check: installation" >&2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install build/release --prefix "$prefix" >/dev/null
(cd / && "$prefix/bin/equarx-sim" validate "$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json")
