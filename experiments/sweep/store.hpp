// Results of a sweep's points, in an append-only file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/input/json_value.hpp"
#include "base/os/file_descriptor.hpp"

namespace equarx::sweep {

/// Outcome of a point.
enum class PointState : std::uint8_t {
  computed,      ///< has a line per run
  does_not_fit,  ///< valid, but needs more HBM than a chip has: a line with `status`
  failed,        ///< a line with `error`
};

/// Position of a point's lines in the file.
struct StoredPoint {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  PointState state = PointState::computed;

  bool failed() const { return state == PointState::failed; }
};

/// `status` of the line of a point that does not fit.
inline constexpr std::string_view kDoesNotFit = "does not fit";

/// results.jsonl of a folder: one line of JSON per run of a point, or a single one if it has none.
/// All lines of a point are written at once, and are ignored unless complete.
class SweepStore {
 public:
  /// Reads the existing file, if any. Lines truncated by a crash or a full disk are skipped, and
  /// removed from the file by open().
  /// @throws InputError for lines of another version, and for a file not written by a sweep
  explicit SweepStore(const std::filesystem::path& folder);

  /// Number of truncated lines and of lines of incomplete points.
  std::size_t broken_lines() const { return broken_; }
  /// True if the file has result keys of version 0.2; results() gives them their current names.
  bool has_old_keys() const { return has_old_keys_; }
  const std::filesystem::path& file() const { return file_; }
  /// All stored points, by key.
  const std::unordered_map<std::string, StoredPoint>& points() const { return points_; }
  /// Returns a stored point, or nullptr if absent. Later results supersede an earlier failure.
  const StoredPoint* find(const std::string& key) const;

  /// Opens the file for reading and appending. @throws InputError
  void open();
  /// Returns a point's lines. @throws InputError if they cannot be read
  std::string lines(const StoredPoint& point) const;
  /// Returns a point's lines, parsed. @throws InputError like lines()
  std::vector<input::JsonValue> results(const StoredPoint& point) const;
  /// Returns a point's lines, one by one and with the current names of results. @throws InputError like
  /// lines()
  std::vector<std::string> current_lines(const StoredPoint& point) const;
  /// Appends a point's lines, each ending in a line feed; all or none. @throws InputError if that
  /// fails
  void append(const std::string& key, const std::string& lines, PointState state);
  /// Atomically replaces the contents of the file by `text`, complete lines of points. @throws
  /// InputError
  void replace(const std::string& text);

 private:
  void load(std::string_view text);

  std::filesystem::path file_;
  std::unordered_map<std::string, StoredPoint> points_;
  std::string kept_;  ///< the intact lines of a file with broken lines
  std::size_t broken_ = 0;
  bool has_old_keys_ = false;
  os::FileDescriptor descriptor_;
};

/// True if a folder has a results.jsonl whose first line was computed by another version of the
/// program.
/// @throws InputError if it cannot be read
bool is_of_another_version(const std::filesystem::path& folder);

/// Renames a folder's results.jsonl, if it exists. Returns its new path, or an empty one.
/// @throws InputError
std::filesystem::path move_results_aside(const std::filesystem::path& folder);

}  // namespace equarx::sweep
