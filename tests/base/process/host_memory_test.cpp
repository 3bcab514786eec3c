#include "base/process/host_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::process::host_memory_test {
namespace {

namespace fs = std::filesystem;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Files of a simulated computer; initially without any limits.
class Computer {
 public:
  Computer() {
    std::string path = (fs::temp_directory_path() / "equarx-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) FAIL("mkdtemp");
    root_ = path;
  }
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;
  ~Computer() { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void write_group(const fs::path& group, const std::string& file, const std::string& text) const {
    write(fs::path("sys/fs/cgroup") / group / file, text + "\n");
  }
  double available(double address_space = kInfinity) const {
    return available_memory_bytes(root_, address_space);
  }

 private:
  fs::path root_;
};

TEST_CASE("memory is unlimited without any limits") {
  const Computer computer;
  CHECK(computer.available() == kInfinity);
}

TEST_CASE("the kernel's estimate of available memory counts") {
  const Computer computer;
  computer.write("proc/meminfo", "MemTotal: 9 kB\nMemFree:  1 kB\nMemAvailable:    4 kB\n");
  CHECK(computer.available() == 4096.0);
}

TEST_CASE("a container's limit counts minus its usage, except the page cache") {
  const Computer computer;
  computer.write("proc/meminfo", "MemAvailable: 1000 kB\n");
  computer.write("proc/self/cgroup", "0::/\n");
  computer.write_group("", "memory.max", "max");
  CHECK(computer.available() == 1'024'000.0);
  computer.write_group("", "memory.max", "5000");
  CHECK(computer.available() == 5000.0);
  computer.write_group("", "memory.current", "3000");
  computer.write_group("", "memory.stat", "anon 7\ninactive_anon 9\ninactive_file 1000\nfile 1500");
  CHECK(computer.available() == 3000.0);
  computer.write_group("", "memory.current", "7000");
  CHECK(computer.available() == 0.0);
}

TEST_CASE("the minimum over a group, its ancestors, and hard and soft limits counts") {
  const Computer computer;
  computer.write("proc/self/cgroup", "0::/system.slice/job_7/step 0\n");
  computer.write_group("system.slice/job_7/step 0", "memory.max", "max");
  computer.write_group("system.slice/job_7", "memory.max", "6000");
  computer.write_group("system.slice/job_7", "memory.current", "1000");
  computer.write_group("system.slice", "memory.max", "8000");
  computer.write_group("system.slice/job_8", "memory.max", "10");
  CHECK(computer.available() == 5000.0);
  computer.write_group("system.slice", "memory.high", "4500");
  CHECK(computer.available() == 4500.0);
}

TEST_CASE("within a container the mounted root counts if the group's path is missing") {
  const Computer computer;
  computer.write("proc/self/cgroup", "0::/docker/abc\n");
  computer.write_group("", "memory.max", "5000");
  CHECK(computer.available() == 5000.0);
}

TEST_CASE("groups of version 1 count, also together with version 2") {
  const Computer computer;
  computer.write("proc/self/cgroup",
                 "12:cpuset:/a\n11:cpu,cpuacct:/a\n4:memory:/slurm/job_7\n0::/b\n");
  computer.write_group("memory/slurm/job_7", "memory.limit_in_bytes", "9223372036854771712");
  computer.write_group("memory/slurm", "memory.limit_in_bytes", "6000");
  computer.write_group("memory/slurm", "memory.usage_in_bytes", "2000");
  computer.write_group("memory/slurm", "memory.stat", "inactive_file 7\ntotal_inactive_file 500");
  CHECK(computer.available() == 4500.0);
  computer.write_group("b", "memory.max", "4000");
  CHECK(computer.available() == 4000.0);
}

TEST_CASE("a process's own limit counts minus its usage") {
  const Computer computer;
  computer.write("proc/self/status", "Name:\ta\nVmPeak:\t9 kB\nVmSize:\t2 kB\n");
  CHECK(computer.available(5000.0) == 5000.0 - 2048.0);
  CHECK(computer.available(1000.0) == 0.0);
}

TEST_CASE("the available memory is positive and at most the physical memory") {
  const double installed =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  constexpr double kLeast = 1 << 20;
  CHECK(available_memory_bytes() > kLeast);
  CHECK(available_memory_bytes() <= installed);
}

}  // namespace
}  // namespace equarx::process::host_memory_test
