// Content hashes of configurations and files.
#pragma once

#include <string>
#include <string_view>

namespace equarx::output {

/// 128-bit XXH3 (https://xxhash.com) as 32 hexadecimal digits: among a billion distinct texts, the
/// probability of a collision is below 1e-20. Not cryptographic.
std::string text_hash(std::string_view text);

/// text_hash() of a file's contents, read in blocks, so that a file may exceed the memory. @throws
/// InputError if it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace equarx::output
