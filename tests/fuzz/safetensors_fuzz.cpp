#include <optional>

#include "models/tensors/safetensors_header.hpp"
#include "tests/fuzz/fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const std::optional<std::string_view> name : {std::optional<std::string_view>(), {"a"}})
    equarx::testing::fuzz_reader(bytes, [&] {
      return equarx::tensors::read_safetensors_header("fuzz.safetensors", bytes, name);
    });
  return 0;
}
