// The results of a sweep's points, in a file that grows line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "models/os/file_descriptor.hpp"

namespace equarx::sweep {

/// Where the file has a point: one line for each run, or one with the error.
struct StoredPoint {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  bool failed = false;
};

/// results.jsonl of a folder. One line of JSON for each run of a point, or one for a point that failed.
/// All lines of a point are written at once, and count only if all are there.
class SweepStore {
 public:
  /// Reads what is there. Lines that were cut off, by a crash or a full disk, are left out; when the file
  /// is written to they are removed from it.
  /// @throws InputError for lines of another version, and for a file that no sweep wrote.
  explicit SweepStore(const std::filesystem::path& folder);

  /// Lines that were cut off, or had not all of their point.
  std::size_t broken_lines() const { return broken_; }
  const std::filesystem::path& file() const { return file_; }
  /// All points that it has, by key.
  const std::unordered_map<std::string, StoredPoint>& points() const { return points_; }
  /// nullptr if there is nothing of it. Of a point that failed first and was computed later, the latter.
  const StoredPoint* find(const std::string& key) const;

  /// Makes the file ready to be read and appended to. @throws InputError
  void open();
  /// A point's lines. @throws InputError if they cannot be read.
  std::string lines(const StoredPoint& point) const;
  /// The same, each read. @throws InputError as lines()
  std::vector<input::JsonValue> results(const StoredPoint& point) const;
  /// Adds a point's lines, each ending in a line feed, all or none. @throws InputError if there is no room.
  void append(const std::string& key, const std::string& lines, bool failed);
  /// Has `text`, whole lines of points, in place of all that is there, at once. @throws InputError
  void replace(const std::string& text);

 private:
  void load(std::string_view text);

  std::filesystem::path file_;
  std::unordered_map<std::string, StoredPoint> points_;
  std::string kept_;  ///< of a file with broken lines: the others
  std::size_t broken_ = 0;
  os::FileDescriptor descriptor_;
};

/// Whether a folder has a results.jsonl whose first line another version of the program computed.
/// @throws InputError if it cannot be read.
bool is_of_another_version(const std::filesystem::path& folder);

/// Moves a folder's results.jsonl aside, if it is there. Returns where it is now, or nothing.
/// @throws InputError
std::filesystem::path move_results_aside(const std::filesystem::path& folder);

}  // namespace equarx::sweep
