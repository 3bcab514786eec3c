// A question about capacity: a model, a load, limits of latency, and the choices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace equarx::capacity {

/// Formats of a served model, as named in configurations.
struct Formats {
  std::string precision = "bf16";   ///< scheme of the weights
  std::string kv = "bf16";          ///< KV cache; "bf16" or a stored format
  std::string collective = "bf16";  ///< of the AllReduces

  bool operator==(const Formats&) const = default;
};

/// A load, its limits, and the choices.
struct Request {
  std::string model;            ///< built-in, or the path of a file
  std::uint64_t prompt = 1024;  ///< tokens; at least 1
  std::uint64_t output = 256;   ///< tokens; at least 2
  double ttft_s = 1.0;          ///< limit of the time to first token; above 0
  double tpot_s = 0.05;         ///< limit of the time per output token; above 0
  double percentile = 0.9;      ///< of requests that meet both limits; 0 to 1
  std::vector<std::string> chips = {};
  std::vector<std::uint32_t> sizes = {1, 2, 4, 8, 16};  ///< chips of a replica
  std::vector<std::string> precisions = {"bf16", "fp8", "zeroquant", "weight-only-int4"};
  std::vector<std::string> kv = {"bf16", "int8-row"};
  std::vector<std::string> collectives = {"bf16", "int8"};
  /// Price of a chip, by name, in place of the price in its hardware file.
  std::map<std::string, double> dollars_per_hour = {};
  std::optional<double> requests_per_s = {};  ///< of all replicas together
  std::size_t ranked = 8;                     ///< candidates to simulate under a load
};

}  // namespace equarx::capacity
