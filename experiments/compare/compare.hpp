// Two results of `run --json` side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/differences.hpp"
#include "experiments/input/json_value.hpp"

namespace equarx::compare {

/// A number of a run in both results; none where a result does not have it.
struct NumberPair {
  std::string name;  ///< path in a run: "time_s", "numerics/mse"
  std::optional<double> a;
  std::optional<double> b;

  /// b / a; none if one is missing or `a` is 0.
  std::optional<double> ratio() const;
};

/// A collective of either result.
struct CollectivePair {
  std::string label;
  bool in_a = false;
  bool in_b = false;
  std::vector<NumberPair> numbers;  ///< those that either has, time first
};

/// In what two results differ, and what came of it.
struct Comparison {
  std::string a;  ///< path
  std::string b;
  std::string version_a;  ///< of the program that made it
  std::string version_b;
  std::vector<config::Difference> configuration;
  std::vector<config::Difference> parameters;  ///< of the chips: pointers like "/link_bandwidth"
  std::vector<CollectivePair> collectives;     ///< in the order of `a`, then what `b` alone has
};

/// Reads both files and compares them; collectives by their labels.
/// @throws InputError that names the file which is no result of `run --json`, and how to make one.
Comparison compare(const std::string& path_a, const std::string& path_b);

}  // namespace equarx::compare
