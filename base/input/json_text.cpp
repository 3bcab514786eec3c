#include "base/input/json_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/strict_json.hpp"

namespace equarx::input {
namespace {

/// The library's message without the error's internal name, "[json.exception.out_of_range.401] ".
std::string_view library_message(const Json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

/// Line, column and description of the error. The library reports column 0 for an error before a
/// line break.
std::string parse_message(std::string_view text, const Json::parse_error& error) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  const std::string_view what = library_message(error);
  const std::size_t colon = what.find(": ");
  return fmt::format("not valid JSON at line {}, column {}: {}", line, column,
                     colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// A plain string for text that is not JSON. Bytes that are not UTF-8 would make printing it throw.
Json plain_text(const std::string& text, const std::string& pointer) {
  Json value = text;
  try {
    value.dump();
  } catch (const Json::type_error&) {
    throw InputError(pointer, "--set is given bytes that are not UTF-8 text");
  }
  return value;
}

/// Base directory of a relative path that does not exist, for the message.
std::string base_text(const std::filesystem::path& path) {
  std::error_code unknown;
  if (path.empty() || path.is_absolute()) return "";
  return fmt::format(" (relative to {})", std::filesystem::current_path(unknown).string());
}

/// Rejects files larger than the memory; a sparse file may be larger than any disk. Returns the bytes of the
/// file, 0 if unknown.
std::size_t check_fits(const std::string& path) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  const auto memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (!unknown && static_cast<double>(bytes) > memory)
    throw InputError("", fmt::format("cannot read {}: it has {} bytes, more than this computer's "
                                     "memory; is it the right file?",
                                     path, bytes));
  return unknown ? 0 : static_cast<std::size_t>(bytes);
}

constexpr std::size_t kBlock = std::size_t{1} << 16;

/// Reads to the end, or slightly more than `most` bytes. `expected`: bytes, if known. The stream is bad if it
/// could not be read.
std::string read_blocks(std::istream& stream, std::size_t most, std::size_t expected = 0) {
  std::string text;
  text.reserve(expected + kBlock);
  while (text.size() <= most && stream.peek() != std::istream::traits_type::eof()) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    stream.read(text.data() + before, kBlock);
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.bad()) stream.clear();
  return text;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code unknown;  // a path that cannot be looked up cannot be opened either
  if (std::filesystem::is_directory(path, unknown))
    throw InputError("", fmt::format("cannot read {}: it is a directory", path));
  std::ifstream file(path, std::ios::binary);
  const bool has_end = std::filesystem::is_regular_file(path, unknown);
  const std::size_t bytes = has_end ? check_fits(path) : 0;
  std::string text;
  if (file) text = has_end ? read_blocks(file, std::string::npos, bytes) : read_stream(file, path);
  if (!file)
    throw InputError("", fmt::format("cannot read {}: {}{}", path, std::strerror(errno),
                                     errno == ENOENT ? base_text(path) : ""));
  return text;
}

std::string read_stream(std::istream& stream, const std::string& name) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  std::string text = read_blocks(stream, kMost);
  if (text.size() > kMost)
    throw InputError("", fmt::format("cannot read {}: more than {} MiB, and it may have no end; "
                                     "save the data to a file and name that",
                                     name, kMost >> 20));
  return text;
}

Json parse_json(std::string_view text) {
  try {
    return parse_strictly(text, Comments::allowed);
  } catch (const Json::parse_error& error) {
    throw InputError("", parse_message(text, error));
  } catch (const Json::exception& error) {
    throw InputError("", fmt::format("not valid JSON: {}", library_message(error)));
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

Json parse_value(const std::string& text, const std::string& pointer) {
  try {
    return parse_strictly(text, Comments::refused);
  } catch (const Json::exception&) {
    // A plain string, unless it begins like JSON.
  }
  constexpr std::string_view kJsonStarts = "{[\"";
  if (text.empty() || kJsonStarts.find(text.front()) == std::string_view::npos)
    return plain_text(text, pointer);
  try {
    return parse_json(text);
  } catch (const InputError& error) {
    throw InputError(pointer, fmt::format("'{}' is {}", text, error.what()));
  }
}

}  // namespace equarx::input
