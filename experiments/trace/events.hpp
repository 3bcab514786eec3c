// Writer of the Trace Event Format of Perfetto and chrome://tracing.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "base/input/object_reader.hpp"

namespace equarx::trace {

/// Time in a trace. Integers, so that adjacent slices do not overlap after rounding.
using Picoseconds = std::int64_t;

/// Rounds to the nearest picosecond.
Picoseconds to_picoseconds(double seconds);

/// A row of slices: a thread of a process.
struct Track {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

/// An event on a track, from `start` to `end`.
struct Slice {
  Track track;
  std::string_view name;
  std::string_view category;
  Picoseconds start = 0;
  Picoseconds end = 0;
};

/// Writes one JSON object event by event, so that memory use does not depend on the size of the
/// trace. Times are written in microseconds, as the format requires.
class TraceEventWriter {
 public:
  /// Begins the file. `out` must outlive the writer; the caller checks it for write errors.
  explicit TraceEventWriter(std::ostream& out);

  /// Names a process. Processes are sorted by number.
  void name_process(std::uint32_t process, std::string_view name);
  /// Names a thread of a process. Threads are sorted by number.
  void name_track(Track track, std::string_view name);
  /// Adds a slice. `arguments`: a JSON object.
  void add_slice(const Slice& slice, std::string_view arguments);
  /// Adds an arrow from the slice on `from` at `start` to the slice on `to` at or after `end`.
  void add_flow(Track from, Picoseconds start, Track to, Picoseconds end);

  /// Sets a counter, drawn as a step curve, to `count` from `time` on.
  void add_count(std::uint32_t process, std::string_view name, Picoseconds time, int count);

  /// Ends the file. `other`: an object with further data about the trace.
  void finish(const input::Json& other);

 private:
  void begin_event();
  void flush();

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
  std::uint64_t flows_ = 0;
};

/// Returns a text as a quoted JSON string.
std::string json_quoted(std::string_view text);

}  // namespace equarx::trace
