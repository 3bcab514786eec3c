#!/usr/bin/env bash
# Runs a sweep as a Slurm job array: each task computes one shard, on the cores that it is given.
#
#   sbatch --array=1-8 --cpus-per-task=16 tools/slurm/sweep_array.sh SWEEP.json OUTDIR [options of sweep]
#
# Shard i of n goes to OUTDIR/shard-i-of-n. When all are done, merge them:
#
#   mkdir -p OUTDIR/all && cat OUTDIR/shard-*/results.jsonl > OUTDIR/all/results.jsonl
#   equarx-sim sweep SWEEP.json -o OUTDIR/all
#
# which computes only missing points, and writes OUTDIR/all/results.csv. A task that was ended by a
# time limit or by `scancel --signal` resumes when the same array is submitted again.
# The array's indices must be 1 to n. EQUARX_SIM is the program's path, if it is not in PATH.
#SBATCH --job-name=equarx-sweep
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: sbatch --array=1-N sweep_array.sh SWEEP.json OUTDIR [options of equarx-sim sweep]" >&2
  exit 2
fi
sweep=$1
output=$2
shift 2

index=${SLURM_ARRAY_TASK_ID:?is not set: submit this with sbatch --array=1-N}
count=$SLURM_ARRAY_TASK_COUNT
if [ "$SLURM_ARRAY_TASK_MIN" -ne 1 ] || [ "$SLURM_ARRAY_TASK_MAX" -ne "$count" ]; then
  echo "sweep_array.sh: the array's indices must be 1 to N, without gaps, like --array=1-8" >&2
  exit 2
fi

# exec: signals of Slurm reach the sweep, which then keeps its finished points.
exec "${EQUARX_SIM:-equarx-sim}" sweep "$sweep" -o "$output/shard-$index-of-$count" \
  --shard "$index/$count" --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@"
