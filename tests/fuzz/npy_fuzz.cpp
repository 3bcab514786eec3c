#include "models/tensors/npy_header.hpp"
#include "tests/fuzz/fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  equarx::testing::fuzz_reader(bytes,
                               [&] { return equarx::tensors::read_npy_header("fuzz.npy", bytes); });
  return 0;
}
