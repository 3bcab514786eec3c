// equarx-sim tune: the best way to carry out a collective.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Of `equarx-sim tune`; texts as the user wrote them.
struct TuneArguments {
  ConfigArguments config;
  std::string max_nmse;  ///< these three: empty for no limit
  std::string min_sqnr;  ///< "30 dB"
  std::string max_time;  ///< "100 us"
  std::string budget;    ///< "2 min"; empty: each candidate may take some time
  std::string formats;   ///< "int8,fp8-e4m3"; empty: those of tune_formats()
  std::string output;    ///< file for the best configuration; empty: none
  bool json = false;
  bool exhaustive = false;
};

/// @throws input::InputError for what is wrong, and if nothing is within the limits.
void tune(const TuneArguments& arguments);

}  // namespace equarx::cli
