#include "base/output/hash.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/input/errors.hpp"
#include "base/os/file_descriptor.hpp"

namespace equarx::output {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string digits(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

[[noreturn]] void cannot_read(const std::string& path) {
  throw input::InputError("", fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

}  // namespace

std::string text_hash(std::string_view text) {
  return digits(XXH3_128bits(text.data(), text.size()));
}

std::string file_hash(const std::string& path) {
  const os::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) cannot_read(path);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_read(path);
    if (count == 0) return digits(XXH3_128bits_digest(state.get()));
    XXH3_128bits_update(state.get(), piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace equarx::output
