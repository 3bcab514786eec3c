#include "experiments/output/provenance.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "experiments/input/json.hpp"

namespace equarx::output {

std::string text_hash(std::string_view text) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}", hash);
}

std::string config_hash(const input::Json& resolved) { return text_hash(resolved.dump()); }

}  // namespace equarx::output
