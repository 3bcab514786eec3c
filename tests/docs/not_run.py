"""Commands of pages that the tests do not run, each with the reason.

An entry without a matching command on a page is an error.
"""

BUILDS = "installs packages, builds and tests everything, which is what runs these tests"
CLUSTER = "needs a cluster with Slurm"
WHOLE_STEP = "takes ten seconds; a test of its own runs every configuration of configs/experiments"
WHOLE_STUDY = "takes most of a minute; a test of its own runs this study whole"

NOT_RUN = {
    "docs/tutorial.md": {"bash tools/run.sh": BUILDS},
    "README.md": {
        "bash tools/run.sh": BUILDS,
        "bash tools/test.sh": BUILDS,
        "sim run configs/experiments/llama3_8b_train_v6e_16.json": WHOLE_STEP,
        "sim plan --model llama3.1-70b --isl 4096 --osl 512 --ttft '1 s' --tpot '40 ms' --chips tpu-v6e,h100":
            "takes ten seconds; docs/serving.md has a shorter one",
    },
    "docs/equarx.md": {
        "equarx-sim reproduce equarx_paper --strict": WHOLE_STUDY,
        "/usr/bin/python3 tools/plot/plot.py study results/equarx_paper": WHOLE_STUDY,
    },
    "docs/profiles.md": {
        "equarx-sim import kineto rank0.json rank1.json rank2.json --topology switch:8": "needs profiles of the reader",
    },
    "docs/steps.md": {"equarx-sim run configs/experiments/llama3_8b_train_v6e_16.json": WHOLE_STEP},
    "docs/studies.md": {
        "equarx-sim reproduce quality/stored -o results/quality_stored":
            "takes 20 minutes; a test of its own runs the study's reduced form",
    },
    "docs/sweeps.md": {
        "sbatch --array=1-8 --cpus-per-task=16 tools/slurm/sweep_array.sh configs/sweeps/size_and_slice.json "
        "results/sizes": CLUSTER,
    },
    "docs/tuning.md": {
        "equarx-sim tune configs/experiments/gemma3_27b_prefill_v5e_4x4.json --formats int8,mxint8,bf16":
            "takes minutes",
        "equarx-sim tune configs/experiments/llama3_8b_train_v6e_16.json --min-sqnr '40 dB'": "takes half a minute",
        "equarx-sim tune configs/experiments/llama3_405b_train_gb200_128.json --layouts": "takes two minutes",
        "equarx-sim tune configs/experiments/llama3_405b_train_gb200_128.json --layouts --axes pipeline,data --layout "
        "tensor=4": "takes half a minute",
        "equarx-sim advise configs/experiments/gemma3_27b_prefill_v5e_4x4.json --formats int8 --min-sqnr '33 dB'":
            "takes ten seconds",
        "equarx-sim advise configs/experiments/allreduce_v5e_4x2.json --formats int8 --slices 2x2,4x4,8x8 "
        "--chips tpu-v5e,tpu-v6e": "takes twenty seconds",
        "equarx-sim advise configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 --mesh data=4,model=4 "
        "--report advice.html": "takes half a minute",
    },
}
