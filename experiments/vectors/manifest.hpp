// The manifest of golden vectors.
#pragma once

#include <string>
#include <vector>

#include "base/input/json_text.hpp"
#include "experiments/vectors/vectors.hpp"

namespace equarx::vectors {

/// Name of the manifest in its folder.
inline constexpr const char* kManifest = "manifest.json";

/// Folder names of the collectives, from their labels: "ring-full-loop-bf16".
std::vector<std::string> folder_names(const Vectors& vectors);

/// Path of a case within the folder.
std::string file_name(const std::string& folder_name, const CaseInfo& info);

/// Names of the tensors of a record's steps: "sum.rank3.0007", counted by rank.
std::vector<std::string> step_names(const values::ValueRecord& record);

/// As documented in docs/contract.md.
input::Json manifest_of(const Vectors& vectors);

}  // namespace equarx::vectors
