// Exchanges between all chips of a grid, whose messages share links.
#pragma once

#include <cstdint>
#include <string>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"

namespace equarx::testing {

/// 16 MiB of bf16 on chips of a "torus" or "mesh", times only, on the direct engine: an all-to-all for
/// `algorithm` "direct", else an AllReduce.
inline config::ExperimentConfig exchange_on(const std::string& kind, const std::string& lengths,
                                            const std::string& algorithm,
                                            std::uint32_t minishards) {
  input::Json json = {{"hardware", "tpu-v5e"}, {"numerics", false}, {"engine", "direct"}};
  if (algorithm == "direct") json["collective"] = "all-to-all";
  json["topology"] = {{kind, lengths}};
  json["tensor"] = {{"bytes", "16 MiB"}};
  json["collectives"] = {{{"algorithm", algorithm},
                          {"format", "bf16"},
                          {"minishards", minishards},
                          {"microshards", 1}}};
  return config::read_config(json);
}

}  // namespace equarx::testing
