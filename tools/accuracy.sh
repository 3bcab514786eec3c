#!/usr/bin/env bash
# Runs all studies with measured rows and writes configs/accuracy/rows.json and docs/accuracy.md.
# Usage: tools/accuracy.sh [--check] [EQUARX_SIM]. With --check it compares instead of writing, and exits
# with 1 if simulated figures have changed by more than 0.1 %.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
if [ "${1:-}" = --check ]; then
  check=true
  shift
fi
program=${1:-build/release/equarx-sim}
studies=(equarx_paper validation training training_experts training_gpus published/global_qsgd published/mscclpp
  published/quickreduce published/nccl published/deepep published/serving published/fog)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

folders=()
for study in "${studies[@]}"; do
  echo "$study"
  "$program" reproduce "experiments/studies/$study" -o "$results/${study##*/}" >/dev/null
  folders+=("$results/${study##*/}")
done
mkdir "$results/h100"
python3 experiments/studies/published/h100/study.py "$program" --output "$results/h100/study.json" >/dev/null
folders+=("$results/h100")
mkdir "$results/weight_only"
python3 experiments/studies/published/weight_only/study.py "$program" --output "$results/weight_only/study.json" \
  >/dev/null
folders+=("$results/weight_only")
mkdir "$results/serving_load"
python3 experiments/studies/published/serving_load/study.py "$program" --output "$results/serving_load/study.json" \
  >/dev/null
folders+=("$results/serving_load")
for list in h100 b200 a100_weight_only; do
  mkdir "$results/kernels_$list"
  "$program" kernels "experiments/studies/published/kernels/$list.csv" --hardware "${list%%_*}" \
    --origin aiconfigurator -o "$results/kernels_$list/study.json" >/dev/null
  folders+=("$results/kernels_$list")
done

if $check; then
  "$program" accuracy "${folders[@]}" -o "$results/rows.json" >/dev/null
  python3 - configs/accuracy/rows.json "$results/rows.json" <<'PYTHON'
import json, sys
old, new = ({(row["study"], row["id"]): row["simulated"] for row in json.load(open(path))["rows"]} for path in sys.argv[1:])
changed = [key for key in old.keys() | new.keys()
           if key not in old or key not in new or abs(old[key] / new[key] - 1) > 1e-3]
for key in sorted(changed):
    print("changed:", *key, old.get(key), new.get(key))
sys.exit(1 if changed else 0)
PYTHON
else
  "$program" accuracy "${folders[@]}" -o configs/accuracy/rows.json --page docs/accuracy.md
fi
