// Machines of every kind, with all algorithms that can run on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/plan/programs.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing {

/// 1031 elements: a prime, so that nothing divides it.
inline input::Json experiment(const std::string& topology, const std::string& collective) {
  return {{"hardware", "tpu-v5e"},
          {"topology", input::parse_json(topology)},
          {"tensor", {{"shape", {1031}}}},
          {"collective", collective},
          {"collectives", input::Json::array()}};
}

/// Every algorithm for the collective that can run on the machine with a format, and `auto` last.
inline void add_algorithms(input::Json& json, const std::string& format) {
  input::Json probe = json;
  probe["collectives"] = {{{"algorithm", "auto"}}};
  const config::ExperimentConfig config = config::read_config(probe);
  std::vector<config::Algorithm> algorithms = config::algorithms_of(config.collective);
  algorithms.push_back(config::kAutomatic);
  for (const config::Algorithm algorithm : algorithms) {
    const bool in_twos = algorithm == config::kAutomatic || algorithm->adds_in_twos;
    const bool fits = format == "int8"               ? config::can_be_quantized(algorithm)
                      : format == "global-qsgd-exp8" ? in_twos
                                                     : config::can_be_plain(algorithm);
    const bool shares = format.starts_with("fp8lm") || format.starts_with("global-qsgd");
    const bool of_slices =
        algorithm != config::kAutomatic && collectives::is_of_slices(algorithm->layout);
    if (shares && of_slices) continue;  // sums in FP32 at every level
    const bool runs = algorithm == config::kAutomatic || plan::why_not(algorithm, config).empty();
    if (!fits || !runs) continue;
    json["collectives"].push_back(
        {{"algorithm", config::algorithm_name(algorithm)}, {"format", format}});
    if (format == "int8")  // one scale per strided group of 1024 would leave no error
      json["collectives"].back().update({{"layout", "contiguous"}, {"block", 32}});
  }
}

struct MachineCase {
  std::string topology;
  std::size_t quantized;  ///< algorithms for an int8 AllReduce, including `auto`
  std::size_t plain;      ///< the same for bf16, which adds the binomial tree
  std::size_t shared;     ///< of these, the number that support a shared scale: none with slices
  std::size_t in_twos;    ///< of these, the number that add in pairs; 1: `auto`, which finds none
};

inline const std::vector<MachineCase>& machine_cases() {
  static const std::vector<MachineCase> all = {
      {R"({"slice": "4x2"})", 9, 10, 10, 5},
      {R"({"torus": "4x4"})", 9, 10, 10, 5},
      {R"({"mesh": "2x2x2"})", 9, 10, 10, 5},
      {R"({"torus": "3x2"})", 7, 7, 7, 3},        // not a power of two
      {R"({"fully-connected": 8})", 8, 9, 9, 4},  // no axes
      {R"({"switch": 8})", 8, 9, 9, 4},
      {fmt::format(R"({{"file": "{}/topologies/two_islands.json"}})", EQUARX_CONFIGS_DIR), 8, 9, 9,
       4},
      // Slices connected by a network, with and without axes.
      {R"({"slice": "4x2", "network": {"slices": 2, "bandwidth": "10 GB/s", "latency": "5 us"}})",
       8, 8, 5, 1},
      {R"({"mesh": "3x2", "network": {"slices": 2, "bandwidth": "10 GB/s", "latency": "5 us"}})", 8,
       8, 5, 1},
      {R"({"fully-connected": 3, "network": {"slices": 3, "bandwidth": "10 GB/s",
           "latency": "5 us", "chips_per_port": 3}})",
       7, 7, 5, 1},
      {R"({"switch": 3, "network": {"slices": 3, "bandwidth": "10 GB/s", "latency": "5 us",
           "chips_per_port": 3}})",
       7, 9, 5, 1}};
  return all;
}

}  // namespace equarx::testing
