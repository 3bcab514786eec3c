// How much memory a simulation may take.
#pragma once

#include <filesystem>

namespace equarx::process {

/// Bytes that are not worth asking for: finding out what is available reads several files of the kernel, which takes
/// as long as making a small program.
inline constexpr double kLittleMemory = 0x1p26;

/// Memory in bytes that this process can still get: what the kernel says it can give (MemAvailable), but not more
/// than the control groups that the process is in allow, as containers and job schedulers set them (cgroup v1 and
/// v2), and than its own limit of addresses (`ulimit -v`). Infinity if none of them says anything.
double available_memory_bytes();

/// The same from the files under `root`, which has /proc and /sys/fs/cgroup, for a process that may have
/// `address_space_bytes` of addresses (infinity without a limit).
double available_memory_bytes(const std::filesystem::path& root, double address_space_bytes);

}  // namespace equarx::process
