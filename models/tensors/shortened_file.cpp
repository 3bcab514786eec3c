#include "models/tensors/shortened_file.hpp"

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "models/os/printable.hpp"

namespace equarx::tensors {
namespace {

constexpr int kExitWrongInput = 2;

// Changed under the mutex. The handler walks along it without, since it ends the process either way.
NamedMapping* newest = nullptr;
std::mutex& mutex() {
  static std::mutex only;
  return only;
}

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

/// Several threads may read where the file no longer is: one speaks, and the others wait for the end.
std::atomic_flag spoken = ATOMIC_FLAG_INIT;

extern "C" void end_in_words(int /*signal*/, siginfo_t* fault, void* /*context*/) {
  while (spoken.test_and_set()) pause();
  std::string_view name = "a file of tensors";
  for (const NamedMapping* each = newest; each != nullptr; each = each->next())
    if (each->has(fault->si_addr)) name = each->name();
  say("equarx-sim: error: ");
  say(name);
  say(": was shortened, or its disk failed, while it was read; write it again, then run this "
      "again\n");
  _exit(kExitWrongInput);
}

}  // namespace

void end_in_words_if_shortened() {
  struct sigaction action {};
  action.sa_sigaction = end_in_words;
  // A fault of the handler itself, in which the signal is blocked, ends the process in the ordinary way.
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

NamedMapping::NamedMapping(std::span<const std::byte> bytes, const std::filesystem::path& file)
    : bytes_(bytes), name_(os::printable(file.string())) {
  const std::scoped_lock lock(mutex());
  next_ = newest;
  newest = this;
}

NamedMapping::~NamedMapping() {
  const std::scoped_lock lock(mutex());
  NamedMapping** place = &newest;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
}

bool NamedMapping::has(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  const std::byte* const begin = bytes_.data();
  return !std::less<>()(byte, begin) && std::less<>()(byte, begin + bytes_.size());
}

}  // namespace equarx::tensors
