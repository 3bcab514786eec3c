// Predictions of collectives on one machine, for simulators and compilers that embed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/input/json_value.hpp"
#include "experiments/config/config.hpp"
#include "experiments/predict/cache.hpp"
#include "experiments/predict/query.hpp"

namespace equarx::predict {

/// Options of a Predictor.
struct PredictorOptions {
  std::size_t cache_entries = 65'536;  ///< at least 1
  unsigned threads = 0;                ///< of one prediction; 0: one per core
  bool errors = true;                  ///< compute values; otherwise errors are NaN
  bool intervals = true;               ///< sample machines; otherwise intervals are NaN
};

/// Simulates distinct queries, without interpolation, and caches the answers. Thread-safe: threads
/// that ask for the same answer at once wait for one simulation. Answers
/// depend on machine and query only. Neither forks nor writes files; files that the machine names are
/// read for each answer that is not cached.
class Predictor {
 public:
  /// `machine`: the keys of a configuration that describe machine and simulation: "hardware" and
  /// "topology", and if need be "faults", "wire_buffers", "timed_as" (default here: "step"),
  /// "simulation", "uncertainty", and the values of "tensor".
  /// @throws input::InputError for invalid keys, and for keys that queries set
  explicit Predictor(input::JsonValue machine, const PredictorOptions& options = {});

  /// The answer. On switches and fully connected nodes a query may have fewer ranks than the machine
  /// has chips, or whole nodes of it; other machines run on all chips. An uncached answer takes as
  /// long as the simulation: typically 0.01 to 1 s.
  /// @throws input::InputError if the query is invalid, or cannot run, with place and remedy
  std::shared_ptr<const Prediction> predict(const Query& query) const;

  /// The cached answer; null without one.
  std::shared_ptr<const Prediction> cached(const Query& query) const { return cache_.find(query); }

  /// Number of cached answers, at most PredictorOptions::cache_entries.
  std::size_t cache_size() const { return cache_.size(); }

  const config::TopologyConfig& topology() const { return topology_; }
  std::uint32_t chips() const { return chips_; }
  /// The chip: its name, or the path of its file.
  const std::string& hardware() const { return hardware_; }

 private:
  config::ExperimentConfig config_of(const Query& query) const;
  std::shared_ptr<const Prediction> simulate(const Query& query) const;

  input::JsonValue machine_;
  PredictorOptions options_;
  std::string hardware_;
  config::TopologyConfig topology_;
  std::uint32_t chips_ = 0;
  mutable Cache cache_;
};

/// The part of a configuration that describes machine and simulation: without the keys that queries
/// set. Not an object: unchanged.
input::Json machine_of(input::Json config);

/// Reads the JSON text of a machine. @throws input::InputError for malformed text
input::JsonValue read_machine(std::string_view text);

}  // namespace equarx::predict
