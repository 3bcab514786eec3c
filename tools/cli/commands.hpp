// The subcommands of equarx-sim and their parsed arguments. Option values are kept as typed by the
// user; "empty" marks options that were not given.
//
// All commands throw input::InputError for invalid input and print to standard output.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace equarx::cli {

/// Values of `--set` and `--unset`.
struct Overrides {
  std::vector<std::string> set;    ///< "pointer=value"
  std::vector<std::string> unset;  ///< pointers; applied before `set`

  bool empty() const { return set.empty() && unset.empty(); }
};

/// A configuration file with overrides.
struct ConfigArguments {
  std::string path;
  Overrides overrides;
};

// --- run, show, validate

/// Arguments of `run`.
struct RunArguments {
  ConfigArguments config;
  bool uncertainty = false;  ///< with intervals, even if the configuration has none
  bool sensitivity = false;  ///< print sensitivities to each parameter instead of results
  bool verbose = false;      ///< with the details of the table
  bool json = false;
  bool links = false;     ///< with `json`: include every link direction
  std::string trace;      ///< trace file; empty: none
  std::string trace_run;  ///< label of the only collective to trace; empty: all
  std::string tensors;    ///< folder for output tensors; empty: none
  bool inputs = false;    ///< with `tensors`: also write input tensors
};

/// Runs an experiment or a step and prints its results.
void run(const RunArguments& arguments);

/// Prints the configuration with all defaults.
void show(const ConfigArguments& arguments);

/// Checks the configuration without running it.
void validate(const ConfigArguments& arguments);

// --- tune, advise

/// Arguments of `tune`.
struct TuneArguments {
  ConfigArguments config;
  std::string max_nmse;  ///< "1e-3"; limits are optional
  std::string min_sqnr;  ///< "30 dB"
  std::string max_time;  ///< "100 us"
  std::string contract;  ///< "fp32-sums,no-overflow"; empty: no promises
  std::string budget;    ///< "2 min"; empty: limits per candidate apply
  std::string formats;   ///< "int8,fp8-e4m3"; empty: tune_formats()
  std::string output;    ///< file for the best configuration; empty: none
  bool json = false;
  bool exhaustive = false;
  bool layouts = false;  ///< search layouts of a training step
  std::string axes;      ///< "tensor,pipeline,data"; empty: all
  std::string layout;    ///< "tensor=4,pipeline=8"; empty: nothing fixed
};

/// @throws input::InputError also if no candidate is within the limits
void tune(const TuneArguments& arguments);

/// Arguments of `import`.
struct ImportArguments {
  std::string kind;  ///< "hlo", "kineto", "xprof", "chakra", "msccl"
  std::string file;
  std::vector<std::string> more_files;  ///< kineto: profiles of other ranks
  std::string hardware;                 ///< empty: default of the kind
  std::string topology;
  std::string mesh;              ///< "data=2,model=8"; empty: from the program's groups
  std::string device_order;      ///< "jax", "machine", "0,1,3,2"; empty: by topology
  std::string formats = "int8";  ///< "int8,fp8-e4m3"; empty: no variants
  std::string min_bytes = "64 KiB";
  std::vector<std::string> trip_counts;   ///< "32", "while.5=32"
  std::vector<std::string> custom_calls;  ///< hlo: "NAME=1.5e12", "NAME=1.5e12:2e9"
  std::string chips;                      ///< hlo: chips of the program; empty: from its text
  std::string output;  ///< file for the step's configuration; "-": standard output
  bool json = false;
  bool audit = false;            ///< hlo: list collectives that could be cheaper or more exact
  bool only_read = false;        ///< summarize the program without simulating it
  std::string bytes = "1 MiB";   ///< msccl: size of the whole buffer
  std::string buffer = "4 MiB";  ///< msccl: buffer size of the Simple protocol
  std::string format;            ///< msccl: wire format; empty: FP32
  bool only_check = false;       ///< msccl: validate without simulating
  std::string groups;            ///< chakra: file of communicator groups; empty: none
  std::string dtype = "bf16";    ///< chakra: element type of communicated tensors
  bool recorded_times = false;   ///< chakra: use recorded durations of compute nodes
  /// Given options that apply to some kinds only, with these kinds.
  std::vector<std::pair<std::string, std::vector<std::string>>> given_of_kind;
};

/// Arguments of `advise`.
struct AdviseArguments {
  ConfigArguments config;
  std::string max_nmse;     ///< "1e-3"
  std::string min_sqnr;     ///< "30 dB", the default if neither error limit is given
  std::string max_time;     ///< "100 us"
  std::string contract;     ///< "fp32-sums,no-overflow"; empty: no promises
  std::string formats;      ///< "int8,fp8-e4m3"; empty: tune_formats()
  std::string budget;       ///< "2 min"; empty: limits per candidate apply
  std::string slices;       ///< "4x2,4x4"; empty: the configured topology
  std::string chips;        ///< "tpu-v5e,tpu-v6e"; empty: the configured chip
  bool gates = false;       ///< smallest sizes of codecs instead
  std::string ranks;        ///< gates: "2,4,8"; empty: powers of two up to the configured number
  ImportArguments program;  ///< machine, mesh and loops of an HLO program
  std::string report;       ///< HTML file; empty: none
  std::string plot;         ///< .svg, .png or .pdf file; empty: none
  bool json = false;
};

/// Advises on a collective, a workload, a step or an HLO program.
/// @throws input::InputError also if no machine has a candidate within the limits
void advise(const AdviseArguments& arguments);

// --- sweep, reproduce

/// Arguments of `sweep`.
struct SweepArguments {
  std::string file;
  Overrides overrides;   ///< of the base
  std::string output;    ///< folder; empty: results/NAME, or a folder in it for a shard
  std::size_t jobs = 0;  ///< number of processes; 0: number of cores
  std::string shard;     ///< "2/8"; empty: all points
  bool yes = false;      ///< without limit on the number of points
  bool dry_run = false;
  bool fresh = false;  ///< move existing results aside
  bool retry = false;  ///< recompute failed points
};

/// Runs a sweep. Returns the exit code: 0; 1 if points failed; 128 + signal.
int sweep(const SweepArguments& arguments);

/// Arguments of `reproduce`.
struct ReproduceArguments {
  std::string study;     ///< folder with a study.json
  std::string output;    ///< folder for the results; empty: results/NAME of the study
  std::size_t jobs = 0;  ///< number of processes; 0: number of cores
  bool strict = false;
  bool fresh = false;  ///< move existing results aside
  bool retry = false;  ///< recompute failed points
};

/// Runs a study and compares its rows. Returns the exit code: 0; 1 if points or the script failed
/// or, with `strict`, a row is outside its tolerance; 128 + signal.
int reproduce(const ReproduceArguments& arguments);

// --- report, compare

/// Arguments of `report`.
struct ReportArguments {
  std::vector<std::string> results;    ///< files of `run --json` and of `sweep`, in any mix
  std::string output = "report.html";  ///< HTML file
  std::string title;                   ///< empty: names of the files
};

/// Writes the page atomically. Prints notes on the files to standard error, too.
void report(const ReportArguments& arguments);

/// Arguments of `compare`.
struct CompareArguments {
  std::string a;  ///< file of `run --json`
  std::string b;  ///< file of `run --json`
  bool json = false;
};

/// Prints the differences of two results.
void compare(const CompareArguments& arguments);

// --- import, export

/// Imports a program and simulates its step with the given formats, or validates and simulates a
/// schedule.
void import_program(const ImportArguments& arguments);

/// Arguments of `export`.
struct ExportArguments {
  std::string kind;        ///< "chakra", "csv", "msccl", "nccl-perf", "xla"
  ConfigArguments config;  ///< configuration to export
  /// Label of the collective; empty: for msccl the first that can be exported, for tables all.
  std::string collective;
  std::string output;       ///< file, "-" or empty: standard output; chakra: path prefix
  std::string collectives;  ///< tables: "all-reduce,all-gather"; empty: the configured kind
  std::string bytes;        ///< tables: "1 KiB..1 GiB,3 MiB"; empty: 1 KiB to 1 GiB
  std::string ranks;        ///< tables: "2,4,8"; empty: powers of two up to the configured number
  std::string device;       ///< xla: key of the device; empty: the chip's
};

/// Writes a configuration in a foreign format.
void export_config(const ExportArguments& arguments);

// --- accuracy, calibrate, hardware, kernels, topology

/// Arguments of `accuracy`.
struct AccuracyArguments {
  std::vector<std::string> results;  ///< results of studies; none: the rows of this version
  bool rows = false;
  bool json = false;
  std::string output;
  std::string page;
};

/// Prints how far simulated figures were from measurements.
void accuracy(const AccuracyArguments& arguments);

/// Arguments of `kernels`.
struct KernelsArguments {
  std::string file;            ///< list of kernels, .jsonl or .csv
  std::string hardware;        ///< built-in chip or hardware file
  std::string timer_overhead;  ///< quantity; empty: 0
  std::string origin;          ///< of the measurements; empty: the file
  std::string output;          ///< file for the rows as results of a study; empty: none
  bool json = false;
};

/// Prints the times of the kernels of a list.
void kernels(const KernelsArguments& arguments);

/// Arguments of `calibrate`.
struct CalibrateArguments {
  std::string file;    ///< calibration file (configs/schema/calibration.schema.json)
  std::string output;  ///< hardware file to write; empty: none
  bool json = false;
};

/// Fits chip parameters to measurements.
void calibrate(const CalibrateArguments& arguments);

/// Arguments of `hardware`.
struct HardwareArguments {
  std::string chip;  ///< built-in chip or path of a hardware file; empty: list all
  bool json = false;
};

/// Prints the parameters of a chip, or the list of built-in chips.
void hardware(const HardwareArguments& arguments);

/// A topology, from a configuration or from options named like its keys.
struct TopologyArguments {
  ConfigArguments config;  ///< empty path: use the options below
  std::string hardware;    ///< empty: the configured chip, or TPU v5e
  std::string slice;
  std::string mesh;
  std::string torus;
  std::string wraparound;  ///< "true,false"
  std::string ring;
  std::string fully_connected;
  std::string on_switch;
  std::string file;
  std::string svg;  ///< SVG file to write; empty: none
  bool json = false;
};

/// Prints metrics of a topology, or draws it.
void describe_topology(const TopologyArguments& arguments);

// --- quantize

/// Arguments of `quantize`.
struct QuantizeArguments {
  std::string file;
  std::string tensor;           ///< name within a .safetensors file; empty: the only one
  std::string format = "int8";  ///< a name, or the file of a stored format
  std::string importance;       ///< .npy file for a stored format; empty: none
  std::string inputs;           ///< .npy file of the layer's inputs; empty: none
  std::string hessian;          ///< .npy file of the inputs' Hessian; empty: none
  std::string scale;            ///< empty scale, layout, ...: the format's default
  std::string scale_rounding;
  std::string layout;
  std::string rounding;
  std::string block;
  std::string elements_per_scale;
  std::string output;  ///< .npy file of decoded values, or .safetensors; empty: none
};

/// Prints the quantization error of a tensor file.
void quantize(const QuantizeArguments& arguments);

// --- dequantize

/// Arguments of `dequantize`.
struct DequantizeArguments {
  std::string file;
  std::string tensor;           ///< name of the weight; empty: the only one
  std::string layout;           ///< empty: by names of the tensors
  std::string original;         ///< file to compare with; empty: none
  std::string original_tensor;  ///< its tensor; empty: the only one
  std::string output;           ///< .npy file of decoded values; empty: none
};

/// Prints size and error of a quantized weight.
void dequantize(const DequantizeArguments& arguments);

// --- config

/// Arguments of `config new`.
struct ConfigNewArguments {
  std::string action;  ///< "new"
  std::string name;    ///< one of config_templates()
  std::string output;  ///< file to write; empty: standard output
};

/// Names of the configuration templates, most common first: "collective", "prefill", ...
std::vector<std::string> config_templates();

/// Writes a commented configuration. @throws input::InputError also if the output file exists
void new_config(const ConfigNewArguments& arguments);

// --- answer

/// Serves requests for the Python package on the standard streams alone; hidden from help. Requests
/// have at most 64 MiB each. Reads one JSON object per
/// line from standard input until it is closed and writes one response per line to standard output,
/// after a first line with the version. SimGrid is loaded once; simulations are forked from this
/// process.
///
/// Request: `config`, and optionally the other members of request::Request: `overrides` (list of
/// [pointer, text]), `links`, `uncertainty`, `sensitivity`, `tensors`, `inputs`, and `folder`, the
/// base of relative paths. Response: `result`, `table` and `tensors` as in request::Answer, or
/// `error` with `kind` ("input" or "internal"), `pointer` and `message` of the exception.
void answer_requests();

}  // namespace equarx::cli
