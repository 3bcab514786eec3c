// Any JSON is either accepted or refused in one line:
//   json_fuzz --reader=sweep CORPUS
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/input/json_text.hpp"
#include "base/os/printable.hpp"
#include "tests/fuzz/json_mutator.hpp"
#include "tests/fuzz/json_readers.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace equarx::testing {
namespace {

/// Reader fuzzed by this run of the program, with its vocabulary.
struct Target {
  JsonReader reader;
  JsonWords words;
};

std::optional<Target>& target() {
  static std::optional<Target> chosen;
  return chosen;
}

void choose(std::string_view name) {
  for (const auto& readers : {config_readers(), part_readers(), list_readers(), text_readers()})
    for (const JsonReader& reader : readers)
      if (reader.name == name) target() = {reader, words_of_schemas(reader.schemas)};
  if (target()) return;
  std::cerr << "json_fuzz: no reader called '" << name << "'\n";
  std::exit(2);
}

/// Folder of this process, by process id: libFuzzer forks.
struct Scratch {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("equarx_fuzz_{}", getpid())).string();
  Scratch() { std::filesystem::create_directories(path); }
  ~Scratch() {
    std::error_code unknown;
    std::filesystem::remove_all(path, unknown);
  }
};

void check_message(std::string_view message, std::size_t input_bytes) {
  constexpr std::size_t kLongest = 4000;
  constexpr std::size_t kEscaped = 6;  // "\u0001", in quoted values
  expect(!message.empty() && message.size() <= kLongest + kEscaped * input_bytes,
         "a message is short");
  expect(os::printable(message) == message, "a message is one line of text");
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Latest mutated document and its text. libFuzzer usually mutates it next, which saves parsing it
/// again.
struct LastDocument {
  std::string text;
  input::Json document;
};

LastDocument& last_document() {
  static LastDocument last;
  return last;
}

std::optional<input::Json> parsed(std::string_view text) {
  if (LastDocument& last = last_document(); !last.text.empty() && last.text == text) {
    last.text.clear();
    return std::move(last.document);
  }
  try {
    return input::parse_json(text);
  } catch (const input::InputError&) {
    return std::nullopt;
  }
}

/// Returns one line if each line is a separate document, else the whole text.
std::string_view any_document(std::string_view text, unsigned seed) {
  const auto lines = static_cast<unsigned>(std::ranges::count(text, '\n'));
  for (unsigned skipped = lines > 1 && text.starts_with("{\"") ? seed % lines : 0; skipped > 0;
       --skipped)
    text.remove_prefix(text.find('\n') + 1);
  return lines > 1 && text.starts_with("{\"") ? text.substr(0, text.find('\n')) : text;
}

/// Returns the text with a mutated document; std::nullopt if it is not JSON, or the result exceeds
/// `most`.
std::optional<std::string> mutated(std::string_view text, std::size_t most, unsigned seed) {
  const std::string_view part = any_document(text, seed);
  auto document = parsed(part);
  if (!document) return std::nullopt;
  std::string changed = JsonMutator(target()->words, seed).mutate(*document);
  last_document() = {changed, std::move(*document)};
  const auto before = static_cast<std::size_t>(part.data() - text.data());
  if (part.ends_with('\n')) changed += '\n';
  changed.insert(0, text.substr(0, before));
  changed += text.substr(before + part.size());
  if (changed.size() > most) return std::nullopt;
  return changed;
}

std::size_t put(const std::string& text, std::uint8_t* out) {
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

}  // namespace

std::string scratch_folder() {
  static const Scratch scratch;
  return scratch.path;
}

std::string scratch_file(std::string_view name, std::string_view text) {
  std::string path = fmt::format("{}/{}", scratch_folder(), name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "json_fuzz: violated: " << what << '\n';
  std::abort();
}

}  // namespace equarx::testing

using namespace equarx::testing;

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--reader=";
  for (int i = 1; i < *count; ++i)
    if (const std::string_view argument = (*arguments)[i]; argument.starts_with(kOption))
      choose(argument.substr(kOption.size()));
  if (!target()) choose("");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    target()->reader.read(text_of(data, size));
  } catch (const equarx::input::InputError& error) {
    check_message(error.what(), size);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  constexpr unsigned kBytesOneIn = 16;  // one in so many mutations changes bytes instead of values
  if (seed % kBytesOneIn != 0)
    if (const auto changed = mutated(text_of(data, size), most, seed)) return put(*changed, data);
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  auto document = parsed(text_of(first, first_size));
  auto other = parsed(text_of(second, second_size));
  if (!document || !other) return 0;  // libFuzzer then tries another mutation
  const std::string text = JsonMutator(target()->words, seed).cross(*document, std::move(*other));
  last_document() = {text, std::move(*document)};
  return text.size() > most ? 0 : put(text, out);
}
