#!/usr/bin/env bash
# Second half of the gate, after tools/test.sh: static checks, unit tests and corpora under sanitizers, an
# installation. tools/nightly.sh runs everything, including the tests left out here.
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

# Modules that own memory, read tensors or run engines, with the other compiler, if they changed themselves.
# tools/nightly.sh instruments all, and tests compiler-dependent arithmetic.
modules=()
for folder in models/formats base/os base/output base/process sim models/tensors; do
  if [ -n "$(/usr/bin/python3 -B tools/lint/changed.py --own "$folder" "tests/$folder")" ]; then
    modules+=("$(basename "$folder")")
  fi
done
if [ ${#modules[@]} -gt 0 ]; then
  readers=()
  case " ${modules[*]} " in *" tensors "*) readers=(npy_fuzz safetensors_fuzz fuzz_corpus) ;; esac
  bash tools/build.sh asan "${modules[@]/%/_test}" "${readers[@]}"
  # Excluded under the sanitizer: memory and descriptor limits.
  names=$(IFS='|'; echo "${modules[*]}")
  ctest --preset asan -j "$jobs" --no-tests=error -R "^($names)_test:" -E "memory|timing of|(no|free) file descriptors"
  if [ ${#readers[@]} -gt 0 ]; then
    ctest --preset asan -j "$jobs" --no-tests=error -R '^replay (npy|safetensors)$'
  fi
fi

echo "check: installation" >&2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix" "$paper"' EXIT
cmake --install build/release --prefix "$prefix" >/dev/null
config=$prefix/share/equarx-sim/configs/experiments/allreduce_v5e_4x2.json
(cd / && "$prefix/bin/equarx-sim" validate "$config")
# The installed program loads the SimGrid module of the same prefix.
(cd / && "$prefix/bin/equarx-sim" run "$config" --set /engine=simgrid --set /numerics=off)
(cd / && "$prefix/bin/equarx-plot" --help >/dev/null)
