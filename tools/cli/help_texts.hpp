// Help footers: examples and details.
#pragma once

namespace equarx::cli {

/// Description of the program.
inline constexpr const char* kAbout =
    "Simulates quantized collectives on TPU slices: latency and numerics.\n"
    "Latency comes from a discrete-event simulation, numerics from computing on real tensors.";

/// Footer of the top-level help.
inline constexpr const char* kFooter =
    "Examples:\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim show configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim hardware tpu-v5p\n"
    "  equarx-sim topology --torus 4x4x4 --svg torus.svg\n"
    "  equarx-sim reproduce equarx_paper\n"
    "  equarx-sim quantize tests/fixtures/activations/layer1_ranks8_tokens32.npy --format "
    "mxfp8-e4m3\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --min-sqnr '30 dB'\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json --plot advice.png\n"
    "\n"
    "'equarx-sim help SUBCOMMAND' lists the options of a subcommand; docs/configuration.md "
    "documents every key.\n"
    "\n"
    "Relative paths missing in the current folder are also searched in share/equarx-sim of the "
    "installation, which contains docs/, too.\n"
    "\n"
    "Exit codes: 0 success; 1 internal error, failed points of a sweep, or rows outside their "
    "tolerance with --strict; 2 invalid input.";

/// Footer of config.
inline constexpr const char* kConfigFooter =
    "Templates:\n"
    "  collective   latency and error of an AllReduce in bf16 and quantized\n"
    "  prefill      speedup of a transformer's prefill with quantized AllReduces\n"
    "  decode       speedup of decoding with the fastest collective\n"
    "  training     a training step with quantized gradients\n"
    "  serving      a serving step with data and tensor parallelism\n"
    "  served-load  a served model under a load, for 'equarx-sim serve'\n"
    "  step         a step of user-defined tasks\n"
    "  hlo          a step from an XLA program, with the commands to import one\n"
    "  chip         a collective on a custom chip\n"
    "  graph        a collective on a custom topology\n"
    "  graph-file   a custom topology as a file of its own\n"
    "\n"
    "Examples:\n"
    "  equarx-sim config new collective\n"
    "  equarx-sim config new prefill -o my_config.json\n"
    "\n"
    "Files may contain comments, // and /* */. 'equarx-sim show FILE' prints a configuration with "
    "all defaults, and 'run FILE --set KEY=VALUE' overrides any key, --unset KEY removes one.";

/// Footer of run.
inline constexpr const char* kRunFooter =
    "Examples:\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --json | python3 -m json.tool\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --set /topology/slice=4x4 "
    "--set '/tensor/bytes=8 MiB'\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --set /simulation=full --json "
    "--links > result.json\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --uncertainty --sensitivity\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --trace trace.json\n"
    "  equarx-sim run - < configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-plot links result.json --label bf16\n"
    "\n"
    "In a source tree, equarx-plot is 'python3 tools/plot/plot.py'.";

/// Footer of plan.
inline constexpr const char* kPlanFooter =
    "Examples:\n"
    "  equarx-sim plan --model llama3.1-70b --isl 4096 --osl 512 --ttft '1 s' --tpot '40 ms' "
    "--chips tpu-v5e,tpu-v6e,h100\n"
    "  equarx-sim plan --model llama3.1-8b --price tpu-v5e='$1.2/h' --price h100='$3/h' "
    "--chips tpu-v5e,h100 --requests-per-s 20\n"
    "  equarx-sim plan --model llama3.1-8b --chips tpu-v6e -o best.json && equarx-sim serve "
    "best.json\n"
    "\n"
    "docs/serving.md explains the search.";

/// Footer of serve.
inline constexpr const char* kServeFooter =
    "Examples:\n"
    "  equarx-sim serve configs/experiments/serve_llama3.1_70b_v6e_8.json\n"
    "  equarx-sim serve configs/experiments/serve_llama3.1_70b_v6e_8.json "
    "--set /serving/load/requests_per_s=2\n"
    "  equarx-sim serve configs/experiments/serve_llama3.1_70b_v6e_8.json --trace trace.json\n"
    "  equarx-sim serve configs/experiments/serve_llama3.1_70b_v6e_8.json --json --requests > "
    "served.json\n"
    "\n"
    "docs/serving.md documents every key and metric, and what the scheduler does.";

/// Footer of reproduce.
inline constexpr const char* kReproduceFooter =
    "Examples:\n"
    "  equarx-sim reproduce equarx_paper --strict\n"
    "  equarx-sim reproduce experiments/studies/validation -o results/measured -j 2\n"
    "\n"
    "Running the command again computes missing points only. docs/studies.md documents the file.\n"
    "\n"
    "Exit codes: 0 success; 1 failed points, a failed script or, with --strict, rows outside their "
    "tolerance; 2 invalid input; 128 + signal number if stopped by a signal.";

/// Footer of sweep.
inline constexpr const char* kSweepFooter =
    "Examples:\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --dry-run\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json -o results/sizes\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --set /hardware=tpu-v6e -o results/v6e\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --shard 1/4\n"
    "\n"
    "Running the command again computes missing points only. docs/sweeps.md documents the file.\n"
    "\n"
    "Exit codes: 0 success; 1 failed points; 2 invalid input; 128 + signal number if stopped by a "
    "signal.";

/// Footer of topology.
inline constexpr const char* kTopologyFooter =
    "Examples:\n"
    "  equarx-sim topology configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim topology --slice 8x16 --set '/topology/avoid=[[\"(0,0)\", \"(0,1)\"]]'\n"
    "  equarx-sim topology --torus 4x4x4 --svg torus.svg\n"
    "  equarx-sim topology --torus 4x8 --wraparound false,true --hardware tpu-v6e --json";

/// Footer of quantize.
inline constexpr const char* kQuantizeFooter =
    "Examples:\n"
    "  equarx-sim quantize tests/fixtures/activations/layer1_ranks8_tokens32.npy --format "
    "mxfp8-e4m3\n"
    "  equarx-sim quantize model.safetensors --tensor w --format int8 --elements-per-scale 64\n"
    "  equarx-sim quantize tests/fixtures/activations/layer1_ranks8_tokens32.npy --format "
    "configs/formats/nf4.json";

/// Footer of matmul.
inline constexpr const char* kMatmulFooter =
    "Examples:\n"
    "  equarx-sim matmul x.npy w.npy --scheme zeroquant\n"
    "  equarx-sim matmul x.npy model.safetensors --w-tensor w --scheme fp8-blocks -o y.npy\n"
    "\n"
    "docs/gemm.md describes schemes.";

/// Footer of experts.
inline constexpr const char* kExpertsFooter =
    "Examples:\n"
    "  equarx-sim experts --dispatch e4m3-row128\n"
    "  equarx-sim experts --dispatch e4m3-row128 --combine e4m3-row128 --activations x.npy\n"
    "\n"
    "Weights are drawn; docs/experts.md explains the figures.";

/// Footer of attention.
inline constexpr const char* kAttentionFooter =
    "Examples:\n"
    "  equarx-sim attention --format int4-row128\n"
    "  equarx-sim attention --keys k.npy --values v.npy --queries q.npy --format int8-row\n"
    "\n"
    "Shapes: [heads, tokens, head size], or [tokens, heads x head size] with --head-size.\n"
    "docs/serving.md describes drawn tensors.";

/// Footer of dequantize.
inline constexpr const char* kDequantizeFooter =
    "Examples:\n"
    "  equarx-sim dequantize model.safetensors --tensor model.layers.0.mlp.up_proj -o decoded.npy\n"
    "  equarx-sim dequantize gptq.safetensors --original up_proj.npy";

/// Footer of export.
inline constexpr const char* kExportFooter =
    "Examples:\n"
    "  equarx-sim export chakra configs/experiments/buckets_v5e_16x16.json -o traces/buckets\n"
    "  equarx-sim import chakra traces/buckets --topology 16x16 --groups "
    "traces/buckets.groups.json\n"
    "  equarx-sim export msccl configs/experiments/allreduce_mi300x_8.json --set "
    "/collectives/0/format=fp16 -o allreduce.xml\n"
    "  equarx-sim export csv configs/experiments/allreduce_mi300x_8.json --ranks 2,8 --bytes "
    "'1 MiB..64 MiB'\n"
    "  equarx-sim export xla configs/experiments/allreduce_mi300x_8.json --collective fp16 -o "
    "collectives.pbtxt\n"
    "\n"
    "docs/chakra.md documents the traces and how ASTRA-sim reads them; docs/msccl.md documents "
    "which "
    "collectives can be exported. Schedules are validated before they are written. "
    "docs/predictor.md documents the tables.";

/// Footer of import.
inline constexpr const char* kImportFooter =
    "Examples:\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4\n"
    "  equarx-sim import hlo configs/programs/fsdp_layer_v5e_4x4.hlo.txt --topology 4x4 --audit\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 "
    "--formats int8,mxfp8-e4m3 -o step.json\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 -o - | "
    "equarx-sim tune - --formats int8,bf16\n"
    "  equarx-sim import chakra traces/step --topology 4x4 --groups traces/step.groups.json\n"
    "  equarx-sim import msccl configs/schedules/allreduce_allpairs_4.xml --only-check\n"
    "  equarx-sim import kineto configs/profiles/fsdp_tp_h100_8.json --topology switch:8\n"
    "  equarx-sim import xprof configs/profiles/tensor_v5e_4x2.json --topology 4x2\n"
    "\n"
    "XLA dumps HLO text with XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' (the file ending "
    "in "
    "after_optimizations.txt), JAX with jax.jit(f).lower(...).compile().as_text(). docs/hlo.md, "
    "docs/profiles.md, docs/chakra.md and docs/msccl.md document the imported constructs and their "
    "cost model.";

/// Footer of tune.
inline constexpr const char* kTuneFooter =
    "Examples:\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --min-sqnr '30 dB' -o best.json\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --max-time '300 us'\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --formats int8,fp8-e4m3 --json "
    "> tuned.json\n"
    "  equarx-plot pareto tuned.json\n"
    "  equarx-sim tune configs/experiments/contract_h100_8.json --contract "
    "fp32-sums,same-bits-at-all-sizes\n"
    "  equarx-sim tune configs/experiments/buckets_v5e_16x16.json --formats int8,bf16\n"
    "  equarx-sim tune configs/experiments/llama3_8b_train_v6e_16.json --layouts --axes "
    "fsdp,tensor,data -o "
    "fastest.json\n"
    "\n"
    "For a whole step, tune chooses which collectives to quantize, and how, for the shortest step "
    "time. With --layouts it chooses the degrees of parallelism of a training step instead.\n"
    "\n"
    "In a source tree, equarx-plot is 'python3 tools/plot/plot.py'. docs/tuning.md documents the "
    "search space, the pruning and its correctness.";

/// Footer of advise.
inline constexpr const char* kAdviseFooter =
    "Examples:\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json --plot advice.png\n"
    "  equarx-sim advise configs/experiments/gemma3_27b_prefill_v5e_4x4.json --min-sqnr '35 dB'\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json --formats int8 --slices "
    "2x2,4x4,8x8 --chips tpu-v5e,tpu-v6e\n"
    "  equarx-sim advise configs/experiments/allreduce_mi300x_8.json --gates --ranks 2,4\n"
    "  equarx-sim advise configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 --mesh "
    "data=4,model=4 --report advice.html\n"
    "\n"
    "docs/tuning.md explains each line and its assumptions.";

/// Footer of compare.
inline constexpr const char* kCompareFooter =
    "Examples:\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --json > v5e.json\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --set /hardware=tpu-v6e --json "
    "> v6e.json\n"
    "  equarx-sim compare v5e.json v6e.json";

/// Footer of accuracy.
inline constexpr const char* kAccuracyFooter =
    "Examples:\n"
    "  equarx-sim accuracy\n"
    "  equarx-sim accuracy --rows\n"
    "  equarx-sim accuracy results/training\n\n"
    "docs/accuracy.md explains the columns. tools/accuracy.sh runs all studies and updates the "
    "rows.";

/// Footer of kernels.
inline constexpr const char* kKernelsFooter =
    "Examples:\n"
    "  equarx-sim kernels experiments/studies/published/kernels/h100.csv --hardware h100\n"
    "  echo '{\"kernel\": \"gemm\", \"m\": 16, \"k\": 8192, \"n\": 8192}' > mine.jsonl\n"
    "  equarx-sim kernels mine.jsonl --hardware a100\n"
    "\n"
    "docs/calibrate.md lists the keys of a row.";

/// Footer of contract.
inline constexpr const char* kContractFooter =
    "Examples:\n"
    "  equarx-sim contract configs/experiments/contract_h100_8.json\n"
    "  equarx-sim contract configs/experiments/allreduce_v5e_4x2.json --quick\n"
    "  equarx-sim contract configs/experiments/contract_h100_8.json --plot contract.svg\n"
    "\n"
    "docs/contract.md explains the columns, and which AllReduce keeps which promise.";

/// Footer of vectors.
inline constexpr const char* kVectorsFooter =
    "Examples:\n"
    "  equarx-sim vectors configs/experiments/contract_h100_8.json -o vectors\n"
    "  equarx-sim vectors configs/experiments/contract_h100_8.json -o vectors --cases "
    "ties,largest\n"
    "  python3 -m equarx.check_vectors vectors mine\n"
    "\n"
    "docs/contract.md describes the files, and the comparison with a kernel's results.";

/// Footer of calibrate.
inline constexpr const char* kCalibrateFooter =
    "Examples:\n"
    "  equarx-sim calibrate configs/calibrations/made_up_chip.json\n"
    "  equarx-sim calibrate configs/calibrations/made_up_chip.json -o mychip.json\n"
    "\n"
    "docs/calibrate.md explains the path from measurements to a hardware file.";

}  // namespace equarx::cli
