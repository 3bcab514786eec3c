// equarx-sim advise: whether to quantize, and how.
#pragma once

#include <string>

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Of `equarx-sim advise`; texts as the user wrote them.
struct AdviseArguments {
  ConfigArguments config;
  std::string max_nmse;  ///< these three: empty for no limit
  std::string
      min_sqnr;  ///< "30 dB", which is the limit on errors where neither of these two is given
  std::string max_time;  ///< "100 us"
  std::string formats;   ///< "int8,fp8-e4m3"; empty: those that tune tries
  std::string budget;    ///< "2 min"; empty: each candidate may take some time
  std::string slices;    ///< "4x2,4x4"; empty: the topology of the configuration
  std::string chips;     ///< "tpu-v5e,tpu-v6e"; empty: the chip of the configuration
  bool json = false;
};

/// @throws input::InputError for what is wrong, and if no machine can run anything within the limits.
void advise(const AdviseArguments& arguments);

}  // namespace equarx::cli
