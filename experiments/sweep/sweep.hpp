// A sweep: a configuration, and the values that some of its keys take in turn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json_value.hpp"

namespace equarx::sweep {

/// Keys whose values change together: a single key, or several zipped ones.
struct SweepAxis {
  std::string pointer;                               ///< JSON pointer of the axis in the sweep file
  std::vector<std::string> keys;                     ///< JSON pointers into the configuration
  std::vector<std::vector<input::JsonValue>> steps;  ///< the values of `keys`, step by step

  std::string name() const;  ///< the keys, for messages
  /// Value of a step as JSON; a list of values if keys are zipped.
  std::string step_text(std::size_t step) const;
};

/// Condition that a key of an axis has a given value.
struct SweepCondition {
  std::size_t axis = 0;
  std::vector<bool> holds;  ///< by step of the axis
};

/// Excludes the combinations for which all conditions hold.
using SweepExclusion = std::vector<SweepCondition>;

/// JSON pointers of the parts of a sweep in its file, for messages.
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

/// Limit of the number of combinations, to catch mistakes.
inline constexpr std::uint64_t kMostCombinations = 10'000'000;

/// Reads a sweep file, and the configuration that it may name (relative to the file).
/// @throws InputError with the file and the JSON pointer
Sweep load_sweep(const std::filesystem::path& file);

/// Keys of the parts of a sweep in its file.
struct SweepPartNames {
  std::string_view base = "base";
  std::string_view axes = "axes";
  std::string_view exclude = "exclude";
};

/// Reads the parts of a sweep from an object of a file in `folder`. Without axes, the base is the
/// only point. The sweep has no name. @throws InputError
Sweep read_sweep_parts(input::ObjectReader& reader, const std::filesystem::path& folder,
                       const SweepPartNames& names = {});

/// Reads the contents of a sweep file in `folder`. An unnamed sweep is called `default_name`.
Sweep read_sweep(const input::Json& json, const std::filesystem::path& folder,
                 const std::string& default_name);

/// Schema of a sweep file, with annotations.
input::Json sweep_schema();
/// Schema of an axis of a sweep, with annotations.
input::Json axis_schema();
/// Schema of the base of a sweep.
input::Json base_schema();
/// Schema of the exclusions of a sweep.
input::Json exclude_schema();

}  // namespace equarx::sweep
