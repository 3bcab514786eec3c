// JSON of GEMM schemes: configs/schemes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"
#include "models/gemm/scheme.hpp"

namespace equarx::config {

/// Reads and checks a scheme. @throws InputError below `pointer`
gemm::Scheme read_scheme(const input::Json& json, const std::string& pointer = "");

/// Loads a scheme by the name of a file in configs/schemes ("zeroquant"), or by path (anything that
/// contains a '/' or ends in ".json"). @throws InputError, at `pointer`.
gemm::Scheme load_scheme(const std::string& name_or_path, const std::string& pointer);

/// Names of the schemes in configs/schemes.
std::vector<std::string_view> scheme_names();

/// Inverse of read_scheme().
input::Json scheme_json(const gemm::Scheme& scheme);

/// A scheme as the value of a key: a name or path, or an object. Schemes of files are written as
/// objects, so that keys of sweeps depend on their contents.
struct SchemeValue {
  void read(input::ObjectReader& reader, std::string_view key, SchemeConfig& config) const;
  input::Json write(const SchemeConfig& config) const;
  input::Json schema() const;
};

/// Schema of scheme files, with annotations.
input::Json scheme_schema();

}  // namespace equarx::config
