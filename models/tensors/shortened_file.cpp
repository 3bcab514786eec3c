#include "models/tensors/shortened_file.hpp"

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "base/os/printable.hpp"

namespace equarx::tensors {
namespace {

constexpr int kExitWrongInput = 2;

// List of mappings, modified under the mutex. The handler skips it, as it ends the process anyway.
NamedMapping* newest = nullptr;
std::mutex& mutex() {
  static std::mutex only;
  return only;
}

void print(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

/// Several threads may fault at once: the first one reports, the others wait for the exit.
std::atomic_flag reported = ATOMIC_FLAG_INIT;

extern "C" void report_and_exit(int /*signal*/, siginfo_t* fault, void* /*context*/) {
  while (reported.test_and_set()) pause();
  std::string_view name = "a tensor file";
  for (const NamedMapping* each = newest; each != nullptr; each = each->next())
    if (each->has(fault->si_addr)) name = each->name();
  print("equarx-sim: error: ");
  print(name);
  print(": was truncated, or its disk failed, while being read; write it again, then rerun\n");
  _exit(kExitWrongInput);
}

}  // namespace

void install_truncation_handler() {
  struct sigaction action {};
  action.sa_sigaction = report_and_exit;
  // The signal stays blocked inside the handler, so a fault there kills the process by default.
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
  NamedMapping** link = &newest;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

bool NamedMapping::has(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  const std::byte* const begin = bytes_.data();
  return !std::less<>()(byte, begin) && std::less<>()(byte, begin + bytes_.size());
}

}  // namespace equarx::tensors
