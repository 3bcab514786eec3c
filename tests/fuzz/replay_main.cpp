// Replays corpora through a fuzz target without libFuzzer, in any build:
//   json_fuzz --reader=sweep FILE_OR_FOLDER...
// Exit code 0 after the last input; a target that finds a fault aborts, or throws, with the input's
// path on stderr.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** arguments);

/// Stub for custom mutators, which a replay never calls.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size,
                                                              std::size_t) {
  return size;
}

namespace {

using Paths = std::vector<std::filesystem::path>;

/// Returns the regular files among the arguments and inside the given folders, sorted by path.
Paths inputs(int count, char** arguments) {
  Paths files;
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path path = arguments[i];
    if (path.string().starts_with("-")) continue;
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Runs one input; prints its path first, so that an abort names it.
void replay(const std::filesystem::path& path) {
  std::cerr << "replay: " << path.string() << '\n';
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int count, char** arguments) try {
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &arguments);
  const Paths files = inputs(count, arguments);
  for (const std::filesystem::path& path : files) replay(path);
  std::cerr << "replay: " << files.size() << " inputs\n";
  return files.empty() ? 2 : 0;
} catch (const std::exception& error) {
  std::cerr << "replay: " << error.what() << '\n';
  return 1;
}
