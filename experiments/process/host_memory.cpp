#include "experiments/process/host_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace equarx::process {

double available_memory_bytes() {
  constexpr double kBytesPerKiB = 1024.0;
  std::ifstream file("/proc/meminfo");
  std::string key;
  double kib = 0.0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * kBytesPerKiB;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace equarx::process
