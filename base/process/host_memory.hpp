// Memory available to a simulation.
#pragma once

#include <filesystem>

namespace equarx::process {

/// Requests up to this many bytes need no check: determining the available memory reads several
/// kernel files, which takes as long as generating a small program.
inline constexpr double kLittleMemory = 0x1p26;

/// Bytes of memory this process can still allocate: the kernel's estimate (MemAvailable), limited
/// by the control groups of the process, as set by containers and job schedulers (cgroup v1 and
/// v2), and by its address space limit (`ulimit -v`). Infinity if none of them is known.
double available_memory_bytes();

/// The same from the /proc and /sys/fs/cgroup under `root`, for a process limited to
/// `address_space_bytes` (infinity: no limit).
double available_memory_bytes(const std::filesystem::path& root, double address_space_bytes);

}  // namespace equarx::process
