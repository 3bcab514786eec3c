#include "base/process/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#if defined(__EMSCRIPTEN__)
#include <emscripten/heap.h>
#include <malloc.h>
#endif

namespace equarx::process {
namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kBytesPerKiB = 1024.0;

/// Returns the number after a keyword at the start of a line, the format of statistics in /proc and
/// cgroups.
std::optional<double> find_number(const fs::path& path, std::string_view word) {
  std::ifstream file(path);
  std::string key;
  while (file >> key) {
    double number = 0.0;
    if (key == word && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// Returns the number in a file; std::nullopt if there is no such file, or it contains "max".
std::optional<double> read_number(const fs::path& path) {
  std::ifstream file(path);
  double number = 0.0;
  if (file >> number) return number;
  return std::nullopt;
}

/// File names of the limits and usage of a control group, which differ between the two versions.
struct GroupFiles {
  std::vector<std::string> limits;
  std::string usage;
  std::string cache;  ///< key in memory.stat: page cache that the kernel reclaims first
};

/// Above memory.high the kernel does not kill processes, but throttles them almost to a standstill.
const GroupFiles kVersion2 = {{"memory.max", "memory.high"}, "memory.current", "inactive_file"};
const GroupFiles kVersion1 = {
    {"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"};

/// Bytes left under a group's own limits.
double left_in_group(const fs::path& folder, const GroupFiles& files) {
  double limit = kUnlimited;
  for (const std::string& name : files.limits)
    limit = std::min(limit, read_number(folder / name).value_or(kUnlimited));
  const double cache = find_number(folder / "memory.stat", files.cache).value_or(0.0);
  const double usage = read_number(folder / files.usage).value_or(0.0);
  return std::max(limit - std::max(usage - cache, 0.0), 0.0);
}

/// Minimum over a group and its ancestors. Within a container the group may be the root of the
/// mounted hierarchy, whatever /proc reports; missing folders have no limits.
double left_in_groups(const fs::path& mount, fs::path group, const GroupFiles& files) {
  double left = kUnlimited;
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    left = std::min(left, left_in_group(mount / group, files));
  return std::min(left, left_in_group(mount, files));
}

double left_in_all_groups(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  double left = kUnlimited;
  // "0::/user.slice/a" in version 2, "4:memory:/slurm/a" in version 1.
  for (std::string line; std::getline(file, line);) {
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t group = line.find(':', controllers) + 1;
    if (controllers == 0 || group == 0) continue;
    const std::string names =
        fmt::format(",{},", line.substr(controllers, group - 1 - controllers));
    if (names == ",,")
      left = std::min(left, left_in_groups(mount, line.substr(group), kVersion2));
    else if (names.find(",memory,") != std::string::npos)
      left = std::min(left, left_in_groups(mount / "memory", line.substr(group), kVersion1));
  }
  return left;
}

}  // namespace

double available_memory_bytes(const fs::path& root, double address_space_bytes) {
  const std::optional<double> free_kib = find_number(root / "proc/meminfo", "MemAvailable:");
  const double used_kib = find_number(root / "proc/self/status", "VmSize:").value_or(0.0);
  return std::min({free_kib ? *free_kib * kBytesPerKiB : kUnlimited, left_in_all_groups(root),
                   std::max(address_space_bytes - used_kib * kBytesPerKiB, 0.0)});
}

#if defined(__EMSCRIPTEN__)
/// The rest of the module's memory.
double available_memory_bytes() {
  return static_cast<double>(emscripten_get_heap_max()) - static_cast<double>(mallinfo().uordblks);
}
#else
double available_memory_bytes() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return available_memory_bytes("/", limited ? static_cast<double>(limit.rlim_cur) : kUnlimited);
}
#endif

}  // namespace equarx::process
