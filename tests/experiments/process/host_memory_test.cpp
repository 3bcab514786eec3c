#include "experiments/process/host_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::process::host_memory_test {
namespace {

namespace fs = std::filesystem;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The files of a computer that does not exist; nothing says anything at first.
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

TEST_CASE("without any statement memory is unlimited") {
  const Computer computer;
  CHECK(computer.available() == kInfinity);
}

TEST_CASE("the kernel says what it can give") {
  const Computer computer;
  computer.write("proc/meminfo", "MemTotal: 9 kB\nMemFree:  1 kB\nMemAvailable:    4 kB\n");
  CHECK(computer.available() == 4096.0);
}

TEST_CASE("a container's limit counts less what it uses, but for cached files") {
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

TEST_CASE("of a group and those around it the least counts, and of hard and soft limits, too") {
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

TEST_CASE(
    "within a container the group's path may not be there, the root of what is mounted counts") {
  const Computer computer;
  computer.write("proc/self/cgroup", "0::/docker/abc\n");
  computer.write_group("", "memory.max", "5000");
  CHECK(computer.available() == 5000.0);
}

TEST_CASE("groups of version 1 count, too, also beside those of version 2") {
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

TEST_CASE("a process's own limit counts less what it has") {
  const Computer computer;
  computer.write("proc/self/status", "Name:\ta\nVmPeak:\t9 kB\nVmSize:\t2 kB\n");
  CHECK(computer.available(5000.0) == 5000.0 - 2048.0);
  CHECK(computer.available(1000.0) == 0.0);
}

TEST_CASE("some memory is available, and not more than there is") {
  const double installed =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  constexpr double kLeast = 1 << 20;
  CHECK(available_memory_bytes() > kLeast);
  CHECK(available_memory_bytes() <= installed);
}

}  // namespace
}  // namespace equarx::process::host_memory_test
