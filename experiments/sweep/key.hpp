// Key of a sweep's point: a hash, in 32 digits, of everything its results depend on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/sweep/point_summary.hpp"

namespace equarx::sweep {

/// Computes keys, and caches the hashes of files.
class SweepKeys {
 public:
  /// Hashes the resolved configuration, the contents of the files that it names (chip, model,
  /// graph, tensors), the program's version, and the name of the experiment if given, so that
  /// experiments share no results. A configuration that cannot be read is hashed as text.
  std::string key(const input::Json& config, const std::string& experiment = {}) {
    return describe(config, experiment).key;
  }

  /// A key, and what the table of results shows of the configuration: null if it cannot be read.
  struct Described {
    std::string key;
    std::shared_ptr<const PointSummary> summary;
  };
  Described describe(const input::Json& config, const std::string& experiment);

  /// Hashes a sweep's base: its resolved configuration or, if it is incomplete without the axes,
  /// its text. Independent of the contents of files and of the version.
  static std::string base(const input::Json& config);

 private:
  const std::string& digest(const std::string& file);

  std::map<std::string, std::string> digests_;  ///< by path
};

}  // namespace equarx::sweep
