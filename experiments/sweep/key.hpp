// The key of a sweep's point: what its results depend on, in 32 digits.
#pragma once

#include <map>
#include <string>

#include "experiments/input/object_reader.hpp"

namespace equarx::sweep {

/// Makes keys, and remembers what it read of files.
class SweepKeys {
 public:
  /// Hash of the resolved configuration, the contents of the files that it names (chip, model, graph,
  /// tensors) and the program's version. Of a configuration that cannot be read, hash of its text.
  /// With the name of an experiment that the point is of, of that, too: experiments share no results, so
  /// that a file has those of each.
  std::string key(const input::Json& config, const std::string& experiment = {});

  /// Hash of what a sweep's base means: of its resolved configuration or, if the axes are yet to make it one,
  /// of its text. Neither files nor the version are in it.
  static std::string base(const input::Json& config);

 private:
  const std::string& digest(const std::string& file);

  std::map<std::string, std::string> digests_;  ///< by path
};

}  // namespace equarx::sweep
