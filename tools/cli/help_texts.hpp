// What help says below the options: examples, and what does not fit into a line.
#pragma once

namespace equarx::cli {

/// What the program is for.
inline constexpr const char* kAbout =
    "Times and computes quantized collectives on simulated TPU slices.\n"
    "A collective is timed by a discrete-event simulation, and computed on real tensors.";

/// Below the help of the program itself.
inline constexpr const char* kFooter =
    "Examples:\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim show configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim hardware tpu-v5p\n"
    "  equarx-sim topology --torus 4x4x4 --svg torus.svg\n"
    "  equarx-sim reproduce experiments/equarx_paper\n"
    "  equarx-sim quantize tests/fixtures/activations/layer1_ranks8_tokens32.npy --format "
    "mxfp8-e4m3\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --min-sqnr '30 dB'\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json\n"
    "\n"
    "'equarx-sim SUBCOMMAND --help' has the options of each. docs/configuration.md describes every "
    "key.\n"
    "\n"
    "Installed, files that are not in the current folder are looked for in share/equarx-sim beside "
    "bin. docs/ is there, too.\n"
    "\n"
    "Exit codes: 0 done, 1 a defect of this program (or a row outside its tolerance, with "
    "--strict, or a point of a sweep that failed), "
    "2 wrong input.";

/// Below the help of config.
inline constexpr const char* kConfigFooter =
    "Questions:\n"
    "  collective   how long an AllReduce takes in bf16 and quantized, and its error\n"
    "  prefill      what quantized AllReduces bring to the prefill of a transformer\n"
    "  decode       what the fastest collective brings to decoding\n"
    "  chip         a collective on a chip of your own\n"
    "  graph        a collective on a machine whose cables are a graph of your own\n"
    "  graph-file   such a graph, for a file of its own\n"
    "\n"
    "Examples:\n"
    "  equarx-sim config new collective\n"
    "  equarx-sim config new prefill -o my_config.json\n"
    "\n"
    "Files may have comments, // and /* */. 'equarx-sim show FILE' prints a configuration with "
    "every "
    "key that it leaves to its default, and 'run FILE --set KEY=VALUE' sets any of them.";

/// Below the help of run.
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

/// Below the help of reproduce.
inline constexpr const char* kReproduceFooter =
    "Examples:\n"
    "  equarx-sim reproduce experiments/equarx_paper --strict\n"
    "  equarx-sim reproduce experiments/validation -o results/measured -j 2\n"
    "\n"
    "The same command again computes only what is missing. docs/studies.md describes the file.\n"
    "\n"
    "Exit codes: 0 done, 1 some points failed or, with --strict, some rows are outside their "
    "tolerance, 2 wrong input, 128 + the signal that stopped it.";

/// Below the help of sweep.
inline constexpr const char* kSweepFooter =
    "Examples:\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --dry-run\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json -o results/sizes\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --set /hardware=tpu-v6e -o results/v6e\n"
    "  equarx-sim sweep configs/sweeps/size_and_slice.json --shard 1/4\n"
    "\n"
    "The same command again computes only what is missing. docs/sweeps.md describes the file.\n"
    "\n"
    "Exit codes: 0 done, 1 some points failed, 2 wrong input, 128 + the signal that stopped it.";

/// Below the help of topology.
inline constexpr const char* kTopologyFooter =
    "Examples:\n"
    "  equarx-sim topology configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim topology --slice 8x16 --set '/topology/avoid=[[\"(0,0)\", \"(0,1)\"]]'\n"
    "  equarx-sim topology --torus 4x4x4 --svg torus.svg\n"
    "  equarx-sim topology --torus 4x8 --wraparound false,true --hardware tpu-v6e --json";

/// Below the help of quantize.
inline constexpr const char* kQuantizeFooter =
    "Examples:\n"
    "  equarx-sim quantize tests/fixtures/activations/layer1_ranks8_tokens32.npy --format "
    "mxfp8-e4m3\n"
    "  equarx-sim quantize model.safetensors --tensor w --format int8 --elements-per-scale 64";

/// Below the help of export.
inline constexpr const char* kExportFooter =
    "Examples:\n"
    "  equarx-sim export chakra configs/experiments/buckets_v5e_16x16.json -o traces/buckets\n"
    "  equarx-sim import chakra traces/buckets --topology 16x16 --groups "
    "traces/buckets.groups.json\n"
    "  equarx-sim export msccl configs/experiments/allreduce_mi300x_8.json --set "
    "/collectives/0/format=fp16 -o allreduce.xml\n"
    "\n"
    "docs/chakra.md says what traces have, and how ASTRA-sim reads them; docs/msccl.md which "
    "collectives can be a schedule, which is read and checked again before it is written.";

/// Below the help of import.
inline constexpr const char* kImportFooter =
    "Examples:\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 "
    "--formats int8,mxfp8-e4m3 -o step.json\n"
    "  equarx-sim import hlo configs/programs/transformer_v5e_4x4.hlo.txt --topology 4x4 -o - | "
    "equarx-sim tune - --formats int8,bf16\n"
    "  equarx-sim import chakra traces/step --topology 4x4 --groups traces/step.groups.json\n"
    "  equarx-sim import msccl configs/schedules/allreduce_allpairs_4.xml --only-check\n"
    "\n"
    "XLA writes the text by XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_text (the file that ends "
    "with after_optimizations.txt), and JAX by jax.jit(f).lower(...).compile().as_text(). "
    "docs/hlo.md says what is read, and how it is counted; docs/chakra.md says the same of "
    "traces, and docs/msccl.md of schedules.";

/// Below the help of tune.
inline constexpr const char* kTuneFooter =
    "Examples:\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --min-sqnr '30 dB' -o best.json\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --max-time '300 us'\n"
    "  equarx-sim tune configs/experiments/allreduce_v5e_4x2.json --formats int8,fp8-e4m3 --json "
    "> tuned.json\n"
    "  equarx-plot pareto tuned.json\n"
    "  equarx-sim tune configs/experiments/buckets_v5e_16x16.json --formats int8,bf16\n"
    "\n"
    "Of a whole step it says which collectives to quantize, and how, for the shortest step.\n"
    "\n"
    "In a source tree, equarx-plot is 'python3 tools/plot/plot.py'. "
    "docs/tuning.md explains what is tried, what is left out, and why nothing is missed.";

/// Below the help of advise.
inline constexpr const char* kAdviseFooter =
    "Examples:\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json\n"
    "  equarx-sim advise configs/experiments/gemma3_27b_prefill_v5e_4x4.json --min-sqnr '35 dB'\n"
    "  equarx-sim advise configs/experiments/allreduce_v5e_4x2.json --formats int8 --slices "
    "2x2,4x4,8x8 --chips tpu-v5e,tpu-v6e\n"
    "\n"
    "docs/tuning.md explains what each line says, and what it rests on.";

/// Below the help of compare.
inline constexpr const char* kCompareFooter =
    "Examples:\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --json > v5e.json\n"
    "  equarx-sim run configs/experiments/allreduce_v5e_4x2.json --set /hardware=tpu-v6e --json "
    "> v6e.json\n"
    "  equarx-sim compare v5e.json v6e.json";

/// Below the help of calibrate.
inline constexpr const char* kCalibrateFooter =
    "Examples:\n"
    "  equarx-sim calibrate configs/calibrations/made_up_chip.json\n"
    "  equarx-sim calibrate configs/calibrations/made_up_chip.json -o mychip.json\n"
    "\n"
    "docs/calibrate.md goes from measurements to a hardware file.";

}  // namespace equarx::cli
