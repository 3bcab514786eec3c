// Plans capacity: which chips, formats and limits serve a load within its limits of latency.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/capacity/estimate.hpp"
#include "experiments/capacity/machines.hpp"
#include "experiments/capacity/operating_point.hpp"
#include "experiments/capacity/request.hpp"
#include "experiments/capacity/sensitivity.hpp"
#include "experiments/serve/serve.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::capacity {

/// Expected errors of formats, on drawn values.
struct FormatErrors {
  double weights_nmse = 0.0;  ///< 0: bf16
  double kv_nmse = 0.0;       ///< of attention over the KV cache; 0: bf16
  double sums_nmse = 0.0;     ///< of an AllReduce against exact sums; 0 on one chip
};

/// A replica that meets the limits.
struct Candidate {
  Machine machine;
  Formats formats;
  std::uint64_t tokens = 0;  ///< positions per step
  SteadyState estimate;      ///< with the most sequences within the limit of TPOT
  serve::PoolMemory memory;
  std::vector<OperatingPoint> points = {};  ///< simulated, by rate; the last one is the largest
  FormatErrors errors = {};
  std::optional<double> dollars_per_hour = {};       ///< of the replica
  std::optional<variation::Interval> interval = {};  ///< of requests_per_s(), 68 %; if ranked

  /// Requests/s of the replica: simulated, or estimated.
  double requests_per_s() const;
  double output_tokens_per_s_per_chip(const Request& request) const;
  /// $ per million output tokens; std::nullopt without a price.
  std::optional<double> dollars_per_million(const Request& request) const;
};

/// Why a machine cannot serve the model in some formats.
struct Obstacle {
  Machine machine;
  Formats formats;
  std::string reason;
};

/// An answer.
struct Plan {
  Request request;
  std::vector<Candidate> ranked = {};  ///< simulated under a load, best first
  std::vector<Candidate> estimated =
      {};  ///< all within the limits by their steady state, best first
  std::vector<Obstacle> obstacles = {};
  std::vector<Sensitivity> sensitivities = {};  ///< of the best, largest first
  std::optional<double> spread = {};  ///< standard deviation of ln(measured / simulated) of steps
};

/// Options of a search. None changes the answer.
struct PlanOptions {
  unsigned threads = 1;
  std::function<void(const std::string& part)> part = {};
  std::function<void(double share)> progress = {};
};

/// Searches all machines and formats. Steps are simulated for every machine and AllReduce format;
/// steady states order the candidates, and the best ones serve a simulated load.
/// @throws input::InputError for an unknown chip, model or format, and if no machine has a requested size
Plan plan(const Request& request, const PlanOptions& options);

/// Configuration of a candidate for `equarx-sim serve`.
input::JsonValue configuration(const Request& request, const Candidate& candidate);

}  // namespace equarx::capacity
