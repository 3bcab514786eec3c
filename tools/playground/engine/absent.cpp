// Functions that a browser lacks: of libraries without a build for WebAssembly (protobuf, pugixml, GSL), and of processes.
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>

#include "base/exceptions/exceptions.hpp"
#include "experiments/calibrate/least_squares.hpp"
#include "experiments/calibrate/linear_algebra.hpp"
#include "importers/chakra/file.hpp"
#include "importers/msccl/msccl_xml.hpp"

namespace equarx {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw exceptions::UserError(
      "", fmt::format("{} not available in a browser; use the program equarx-sim", what));
}

}  // namespace

namespace chakra {
Trace read_trace(std::string_view /*bytes*/) { refuse("Chakra traces are"); }
std::string write_trace(const Trace& /*trace*/) { refuse("Chakra traces are"); }
}  // namespace chakra

namespace schedules {
bool is_xml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}
Schedule read_msccl_xml(std::string_view /*text*/) { refuse("MSCCL schedules are"); }
std::string write_msccl_xml(const Schedule& /*schedule*/) { refuse("MSCCL schedules are"); }
}  // namespace schedules

namespace calibrate {
Fit fit(const UnlimitedModel& /*model*/, const Targets& /*targets*/, const Point& /*start*/,
        const FitProgress& /*progress*/) {
  refuse("calibration is");
}
Decomposition decompose(const Jacobian& /*weighted*/) { refuse("calibration is"); }
std::optional<std::vector<double>> covariance(const Decomposition& /*decomposition*/) {
  refuse("calibration is");
}
double chi_squared_tail(double /*chi_squared*/, std::size_t /*degrees_of_freedom*/) {
  refuse("calibration is");
}
}  // namespace calibrate

}  // namespace equarx

extern "C" {
int posix_spawnp(pid_t* /*child*/, const char* /*program*/,
                 const posix_spawn_file_actions_t* /*actions*/,
                 const posix_spawnattr_t* /*attributes*/, char* const* /*arguments*/,
                 char* const* /*environment*/) {
  return ENOSYS;
}
int prctl(int /*option*/, ...) {
  errno = ENOSYS;
  return -1;
}
}
