// Hashes that name contents: of configurations and of files.
#pragma once

#include <string>
#include <string_view>

namespace equarx::output {

/// XXH3 of 128 bits (https://xxhash.com) in 32 hexadecimal digits: among a billion different texts two have the
/// same hash with a probability below 1e-20. It does not resist those who look for such two.
std::string text_hash(std::string_view text);

/// text_hash() of a file's contents, read piece by piece, so that a file may be larger than the memory.
/// @throws InputError if it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace equarx::output
