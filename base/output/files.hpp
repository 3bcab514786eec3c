// Output files and folders.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace equarx::output {

/// Checks that files can be written there, before a long computation. Creates nothing. @throws
/// InputError if the folder, or the one it would be created in, is not a folder or not writable.
void check_folder(const std::filesystem::path& folder);

/// Rejects an output that would overwrite one of `inputs`, under any path. Paths to missing files
/// are ignored. @throws InputError that names both
void check_not_input(const std::filesystem::path& output, std::span<const std::string> inputs);

/// Creates the folder and its parents, unless they exist. @throws InputError
void make_folder(const std::filesystem::path& folder);

/// Writes an OutputFile. Returns its path. @throws InputError if it cannot be written.
std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace equarx::output
