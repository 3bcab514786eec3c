#pragma once

#include "experiments/experiment.hpp"
#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// The version of this program.
std::string_view version();

struct JsonOptions {
  bool links = false;  ///< with what crossed every link direction
};

/// A result with all that made it: version, resolved configuration and its hash, every parameter of the
/// chip with its class. configs/schema/result.schema.json describes it.
Json to_json(const ExperimentResult& result, const JsonOptions& options = {});

/// One run of it.
Json to_json(const RunResult& run, const JsonOptions& options = {});

/// FNV-1a in 16 hexadecimal digits.
std::string text_hash(std::string_view text);

/// Hash of a resolved configuration: text_hash() of its JSON text.
std::string config_hash(const Json& resolved);

}  // namespace equarx::experiments
