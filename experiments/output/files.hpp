// Files that the program leaves behind.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace equarx::output {

/// Sees whether files can be written there, so that nothing is computed in vain. Makes nothing.
/// @throws InputError if the folder, or the one that it would be made in, is no folder or not writable.
void check_folder(const std::filesystem::path& folder);

/// Refuses an output that would replace what is read: the same file as one of `inputs`, by whatever path. Paths
/// that lead to no file are left to others. @throws InputError that names both
void check_not_input(const std::filesystem::path& output, std::span<const std::string> inputs);

/// Makes the folder, and those above it, unless it is there. @throws InputError
void make_folder(const std::filesystem::path& folder);

/// Writes an OutputFile. Returns its path. @throws InputError if it cannot be written.
std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace equarx::output
