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

/// Writes to standard output, all or an InputError.
void print(const std::string& text);

struct RunArguments {
  ConfigArguments config;
  bool json = false;
  bool links = false;     ///< with `json`: of every link direction
  std::string trace;      ///< file for a trace; empty: none
  std::string trace_run;  ///< label of the only collective in it; empty: all
};

/// Each returns normally or throws input::InputError for the user's mistakes.
void run(const RunArguments& arguments);
void show(const ConfigArguments& arguments);
void validate(const ConfigArguments& arguments);

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

void quantize(const QuantizeArguments& arguments);

}  // namespace equarx::cli
