// A sweep: one configuration, and the values that some of its keys take in turn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/input/json_value.hpp"

namespace equarx::sweep {

/// Keys whose values change together: one, or several that are zipped.
struct SweepAxis {
  std::string place;                                 ///< JSON pointer of the axis in the sweep file
  std::vector<std::string> keys;                     ///< JSON pointers into the configuration
  std::vector<std::vector<input::JsonValue>> steps;  ///< the values of `keys`, step by step

  std::string name() const;  ///< the keys, for people
  /// The value of a step as JSON; a list of them if keys are zipped.
  std::string step_text(std::size_t step) const;
};

/// A key of an axis that has one of its values.
struct SweepCondition {
  std::size_t axis = 0;
  std::vector<bool> holds;  ///< by step of the axis
};

/// Combinations to leave out: those where all conditions hold.
using SweepExclusion = std::vector<SweepCondition>;

/// Where the parts of a sweep stand in its file: JSON pointers, for messages.
struct SweepPointers {
  std::string base = "/base";
  std::string axes = "/axes";
  std::string exclude = "/exclude";
};

/// A configuration, and the values that some of its keys take in turn.
struct Sweep {
  std::string name;
  input::JsonValue base;
  std::vector<SweepAxis> axes;
  std::vector<SweepExclusion> exclusions;
  SweepPointers pointers = {};
};

/// More combinations than that are no sweep, but a mistake.
inline constexpr std::uint64_t kMostCombinations = 10'000'000;

/// Reads a sweep file, and the configuration that it may name (relative to the file).
/// @throws InputError naming the file and the place in it.
Sweep load_sweep(const std::filesystem::path& file);

/// What a file calls the parts of a sweep.
struct SweepPartNames {
  std::string_view base = "base";
  std::string_view axes = "axes";
  std::string_view exclude = "exclude";
};

/// Reads the parts of a sweep from an object of a file that lies in `folder`; without axes, the base is its
/// only point. The sweep has no name. @throws InputError
Sweep read_sweep_parts(input::ObjectReader& reader, const std::filesystem::path& folder,
                       const SweepPartNames& names = {});

/// Reads the contents of a sweep file that lies in `folder`. The name is `default_name` without one.
Sweep read_sweep(const input::Json& json, const std::filesystem::path& folder,
                 const std::string& default_name);

}  // namespace equarx::sweep
