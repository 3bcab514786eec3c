// No collective vanishes, wherever random programs wrap it: each ends in tasks of the step or in a
// note. The input is the seed of a program. A million programs:
//   wrapped_fuzz --programs=1000000
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/support/wrapped_check.hpp"

namespace {

/// Returns the planted collectives.
std::size_t check(std::uint64_t seed) {
  using namespace equarx::testing;
  const WrappedProgram program = WrappedPrograms(seed).next();
  try {
    check_nothing_vanishes(program);
  } catch (const std::exception& error) {
    std::cerr << "seed " << seed << ": " << error.what() << '\n' << program.text;
    std::abort();
  }
  return program.expected.size();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--programs=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument = (*arguments)[i];
    if (!argument.starts_with(kOption)) continue;
    const std::uint64_t programs = std::stoull(std::string(argument.substr(kOption.size())));
    const auto begin = std::chrono::steady_clock::now();
    std::size_t planted = 0;
    for (std::uint64_t seed = 0; seed < programs; ++seed) planted += check(seed);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::cerr << programs << " programs with " << planted << " collectives in " << taken.count()
              << " s: none vanished\n";
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < size; ++i) seed = seed * 257 + data[i];
  check(seed);
  return 0;
}
