#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/os/huge_pages.hpp"
#include "models/tensors/shortened_file.hpp"
#include "tools/cli/execute.hpp"

namespace equarx::cli {
namespace {

/// Page faults were up to a third of the time: buffers returned to the system and allocated again, and
/// small pages.
void prepare_heap() {
  constexpr int kKept = 256 << 20;      // bytes
  constexpr int kReserved = 255 << 20;  // bytes; at kKept the heap would not serve it
  os::keep_freed_memory(kKept);
  os::use_huge_pages_for_heap(kReserved);
}

/// Occupies closed standard descriptors so that files opened later do not receive messages for
/// standard error. Reading from and writing to the descriptors still fails.
void reserve_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF)
      open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Turns exceeded file size limits (`ulimit -f`) into write errors instead of a fatal signal.
void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

/// For the Python package, which starts this program in its own session and may be killed without
/// terminating it.
void end_with_parent_if_requested() {
  if (std::getenv("EQUARX_SIM_ENDS_WITH_PARENT") != nullptr) prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace
}  // namespace equarx::cli

int main(int argc, char** argv) {
  using namespace equarx;
  using namespace equarx::cli;
  end_with_parent_if_requested();
  reserve_standard_descriptors();
  ignore_file_size_signal();
  prepare_heap();
  tensors::install_truncation_handler();
  return execute(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
