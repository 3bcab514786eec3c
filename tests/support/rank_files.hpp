// Tensors in files, one for each of three ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "models/tensors/npy_writer.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing {

using Names = std::vector<std::string>;

inline constexpr std::uint32_t kRanks = 3;

/// Three chips with tensors in `files`; no other key of the tensor.
inline input::Json from_files(const Names& files) {
  input::Json json =
      input::parse_json(R"({"hardware": "tpu-v5e", "topology": {"ring": 3}, "tensor": {},
    "collectives": [
      {"label": "plain", "algorithm": "ring"},
      {"label": "int8", "algorithm": "equarx", "minishards": 1},
      {"label": "blocks", "algorithm": "equarx", "layout": "contiguous", "block": 32,
       "minishards": 1, "ring": "semi-loop"}]})");
  json["tensor"]["values"]["files"] = files;
  return json;
}

/// A .npy file of float32 with elements first, first + 1, ... of `values`.
inline std::string write_values(const TemporaryDirectory& directory, const std::string& name,
                                const std::vector<std::uint64_t>& shape,
                                const std::function<float(std::uint64_t)>& value) {
  const auto path = directory.path() / name;
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> values) {
    for (float& one : values) one = value(first++);
  });
  return path.string();
}

inline std::string constant(const TemporaryDirectory& directory, const std::string& name,
                            const std::vector<std::uint64_t>& shape) {
  return write_values(directory, name, shape, [](std::uint64_t) { return 1.0F; });
}

}  // namespace equarx::testing
