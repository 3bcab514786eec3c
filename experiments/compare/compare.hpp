// Comparison of two results of `run --json`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/differences.hpp"

namespace equarx::compare {

/// A metric of a run in both results; std::nullopt where absent.
struct NumberPair {
  std::string name;  ///< path in a run: "time_s", "numerics/mse"
  std::optional<double> a;
  std::optional<double> b;

  /// b / a; std::nullopt if one is missing or `a` is 0.
  std::optional<double> ratio() const;
};

/// A collective that occurs in either result.
struct CollectivePair {
  std::string label;
  bool in_a = false;
  bool in_b = false;
  std::vector<NumberPair> numbers;  ///< present in either; time first
};

/// Differences between two results.
struct Comparison {
  std::string a;  ///< path
  std::string b;
  std::string version_a;  ///< of the program
  std::string version_b;
  std::vector<config::Difference> configuration;
  std::vector<config::Difference> parameters;  ///< of the chips: pointers like "/link_bandwidth"
  /// in the order of `a`, followed by those only in `b`
  std::vector<CollectivePair> collectives;
};

/// Reads both files and compares them, matching collectives by label. @throws InputError that names
/// the file that is not a result of `run --json`, and how to create one.
Comparison compare(const std::string& path_a, const std::string& path_b);

}  // namespace equarx::compare
