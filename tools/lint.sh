#!/usr/bin/env bash
# Static checks: formatting, shellcheck, language, types of the Python package, descriptions of public declarations,
# clang-tidy (.clang-tidy).
# clang-tidy covers the files that the change reaches (tools/lint/changed.py), at most the 6 translation units with the
# most changed lines (about a minute on two cores); with --all, every translation unit of the product.
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh clang clang-format clang-tidy doxygen shellcheck mypy

echo "lint: clang-format" >&2
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
echo "lint: shellcheck" >&2
git ls-files '*.sh' .ci/run | xargs shellcheck
echo "lint: language" >&2
/usr/bin/python3 -B tools/lint/language.py
echo "lint: types of the Python package" >&2
(cd tools/python && mypy --config-file ../lint/mypy.ini --cache-dir ../../build/mypy -p equarx)
echo "lint: descriptions of public declarations" >&2
bash tools/doxygen/check.sh

# Unity sources, because parsing headers dominates; generated sources must exist.
bash tools/build.sh tidy equarx_chakra_wire equarx_embedded equarx_report_page equarx_version
commands=build/tidy/compile_commands.json
if [ "${1:-}" = --all ]; then
  units=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$commands" | grep -v '\.pb\.cc$')
else
  units=$(/usr/bin/python3 -B tools/lint/changed.py --units "$commands" --limit 6)
fi
count=$(printf '%s' "$units" | grep -c . || true)
echo "lint: clang-tidy ($count translation units, up to 15 seconds each)" >&2
[ "$count" -eq 0 ] || printf '%s\n' "$units" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/tidy 2>/dev/null
