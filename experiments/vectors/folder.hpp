// The folder with golden vectors.
#pragma once

#include <filesystem>

#include "experiments/vectors/vectors.hpp"

namespace equarx::vectors {

/// Checks, before a long computation, that vectors may be written there: to a missing or empty folder,
/// or over earlier vectors. @throws input::InputError
void check_vectors_folder(const std::filesystem::path& folder);

/// Writes a file per case, replacing earlier ones, and the manifest last: until then "complete" in
/// it is false. @throws input::InputError, tensors::FileError
void write_vectors(const std::filesystem::path& folder, const Vectors& vectors);

}  // namespace equarx::vectors
