#!/usr/bin/env bash
# Second half of the gate, after tools/test.sh: static checks, unit tests and corpora under sanitizers, benchmark
# programs, an installation. tools/nightly.sh runs everything, including the tests left out here.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang libclang-rt-14-dev
jobs=$(nproc)

# The paper's study, one test on one core, next to the static checks, which leave a core idle as well.
bash tools/build.sh release
paper=$(mktemp)
ctest --preset release --no-tests=error --output-on-failure -R '^the paper' >"$paper" 2>&1 &
study=$!
bash tools/lint.sh
echo "check: the paper's study" >&2
wait "$study" || { cat "$paper" >&2; exit 1; }

# Modules that own memory, read tensors or run engines, with the other compiler. tools/nightly.sh instruments all.
modules="formats os output process sim tensors"
readers="npy_fuzz safetensors_fuzz"
# shellcheck disable=SC2086
bash tools/build.sh asan ${modules// /_test }_test $readers fuzz_corpus
# Excluded under the sanitizer: memory and descriptor limits.
ctest --preset asan -j "$jobs" --no-tests=error -R "^(${modules// /|})_test:" \
  -E "memory|timing of|(no|free) file descriptors"
ctest --preset asan -j "$jobs" --no-tests=error -R '^replay (npy|safetensors)$'

# Compiler-dependent arithmetic, where the change reaches it. tools/nightly.sh tests everything with clang.
if [ -n "$(/usr/bin/python3 -B tools/lint/changed.py models/numerics/kernels models/numerics/elements \
  models/numerics/random)" ]; then
  bash tools/build.sh clang numerics_test
  ctest --preset clang -j "$jobs" --no-tests=error -R '^numerics_test:'
fi

bash tools/build.sh release benchmarks
echo "check: benchmark programs start" >&2
for program in build/release/tests/benchmarks/*_benchmark; do
  "$program" --benchmark_list_tests >/dev/null
done

echo "check: installation" >&2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix" "$paper"' EXIT
cmake --install build/release --prefix "$prefix" >/dev/null
config=$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json
(cd / && "$prefix/bin/equarx-sim" validate "$config")
# The installed program loads the SimGrid module of the same prefix.
(cd / && "$prefix/bin/equarx-sim" run "$config" --set /engine=simgrid --set /numerics=off)
(cd / && "$prefix/bin/equarx-plot" --help >/dev/null)
