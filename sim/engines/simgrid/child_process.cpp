#include "sim/engines/simgrid/child_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/child.hpp"
#include "base/os/pipe.hpp"

namespace equarx::sim {
namespace {

constexpr int kExitFailure = 1;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Waits up to a second for threads that have been joined: the kernel wakes the joining thread
/// before it removes the ended one from /proc.
/// @throws std::logic_error if other threads are still running then
void require_single_thread() {
  const std::filesystem::path tasks = "/proc/self/task";
  if (!std::filesystem::exists(tasks)) return;
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (std::distance(std::filesystem::directory_iterator(tasks), {}) == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::logic_error("a simulation was started while other threads were running");
}

/// Waits until data or end of file is available, calling `on_poll` meanwhile.
void wait_for(const os::FileDescriptor& file, const std::function<void()>& on_poll) {
  constexpr int kMilliseconds = 200;
  pollfd waiting{.fd = file.number(), .events = POLLIN, .revents = 0};
  while (poll(&waiting, 1, kMilliseconds) == 0) on_poll();
}

std::vector<std::byte> read_all(const os::FileDescriptor& file,
                                const std::function<void()>& on_poll) {
  std::vector<std::byte> bytes;
  std::array<std::byte, 1 << 16> block{};
  if (on_poll) wait_for(file, on_poll);  // the child writes its result at once at the end
  for (;;) {
    const std::size_t count = os::read_up_to(file, block);
    bytes.insert(bytes.end(), block.begin(), block.begin() + count);
    if (count < block.size()) return bytes;
  }
}

/// Body of the child. Terminates by _exit() to skip the exit handlers of the parent.
[[noreturn]] void run_child(os::FileDescriptor& descriptor, pid_t parent,
                            const std::function<std::vector<std::byte>()>& work) {
  // Do not outlive the parent: the result would never be read.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitFailure);
  // Restore default handlers: the handlers of the parent do not apply here.
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP})
    std::signal(signal, SIG_DFL);
  int status = kExitFailure;
  std::vector<std::byte> bytes;
  try {
    bytes = work();
    status = EXIT_SUCCESS;
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    const auto raw = std::as_bytes(std::span(message));
    bytes.assign(raw.begin(), raw.end());
  }
  if (!os::write_all(descriptor, bytes)) _exit(kExitFailure);
  descriptor.close();
  _exit(status);
}

std::string failure_of(int status, std::span<const std::byte> bytes) {
  if (WIFEXITED(status) && !bytes.empty())
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return os::describe_end(status);
}

}  // namespace

ChildOutcome run_in_child(const std::function<std::vector<std::byte>()>& work,
                          const std::function<void()>& on_poll) {
  require_single_thread();
  os::Pipe pipe = os::open_pipe();
  std::fflush(nullptr);  // avoids duplicate output if a library flushes in the child
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw_errno("fork");
  if (child == 0) {
    pipe.out.close();
    run_child(pipe.in, parent, work);
  }
  pipe.in.close();  // so that reading ends with the child
  ChildOutcome outcome;
  outcome.bytes = read_all(pipe.out, on_poll);
  const std::optional<int> status = os::wait_for_end(child);
  if (!status) throw_errno("waitpid");
  outcome.succeeded = os::succeeded(*status);
  if (!outcome.succeeded) outcome.failure = failure_of(*status, outcome.bytes);
  return outcome;
}

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw_errno("mmap");
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

}  // namespace equarx::sim
