// What each command of equarx-sim does, once its arguments are parsed.
#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// A configuration file and what `--set` changes in it.
struct ConfigArguments {
  std::string path;
  std::vector<std::string> overrides;  ///< "pointer=value"
};

/// Of `equarx-sim run`.
struct RunArguments {
  ConfigArguments config;
  bool uncertainty = false;  ///< with intervals, whatever the configuration says
  bool sensitivity = false;  ///< to each parameter, in place of results
  bool json = false;
  bool links = false;     ///< with `json`: of every link direction
  std::string trace;      ///< file for a trace; empty: none
  std::string trace_run;  ///< label of the only collective in it; empty: all
  std::string tensors;    ///< folder for tensors; empty: none
  bool inputs = false;    ///< with `tensors`: those that ranks begin with, too
};

/// Each returns normally or throws input::InputError for the user's mistakes.
void run(const RunArguments& arguments);
/// Prints the configuration with every default filled in.
void show(const ConfigArguments& arguments);
/// Says whether the configuration is good, without running it.
void validate(const ConfigArguments& arguments);

/// Of `equarx-sim quantize`; texts as the user wrote them.
struct QuantizeArguments {
  std::string file;
  std::string tensor;  ///< name within a .safetensors file; empty: the only one
  std::string format = "int8";
  std::string scale;  ///< these five: empty for the format's own
  std::string layout;
  std::string rounding;
  std::string block;
  std::string elements_per_scale;
  std::string output;  ///< .npy file for the dequantized tensor; empty: none
};

/// Prints what quantizing a tensor file does to its values. @throws input::InputError for the user's mistakes.
void quantize(const QuantizeArguments& arguments);

}  // namespace equarx::cli
