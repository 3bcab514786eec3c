// Writes the Trace Event Format, which Perfetto and chrome://tracing read.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "experiments/input/object_reader.hpp"

namespace equarx::trace {

/// Time in a trace. Whole numbers, so that slices which touch do not overlap after rounding.
using Picoseconds = std::int64_t;

/// To the nearest picosecond.
Picoseconds to_picoseconds(double seconds);

/// A row of slices: a thread of a process.
struct Track {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

/// What happens on a track from `start` to `end`.
struct Slice {
  Track track;
  std::string_view name;
  std::string_view category;
  Picoseconds start = 0;
  Picoseconds end = 0;
};

/// One JSON object that grows event by event, so that a trace of any size needs no memory. Times are
/// written in microseconds, as the format asks for.
class TraceEventWriter {
 public:
  /// Begins the file. `out` must outlive the writer, whose user looks whether writing succeeded.
  explicit TraceEventWriter(std::ostream& out);

  /// Processes are shown in the order of their numbers.
  void name_process(std::uint32_t process, std::string_view name);
  /// Threads of a process are shown in the order of their numbers.
  void name_track(Track track, std::string_view name);
  /// `arguments`: a JSON object.
  void add_slice(const Slice& slice, std::string_view arguments);
  /// An arrow from the slice at `from` to the slice, or the next one, at `to`.
  void add_flow(Track from, Picoseconds start, Track to, Picoseconds end);

  /// A number that is drawn as a curve, from `time` on.
  void add_count(std::uint32_t process, std::string_view name, Picoseconds time, int count);

  /// Ends the file. `other`: what else a reader may want to know, an object.
  void finish(const input::Json& other);

 private:
  void begin_event();
  void flush();

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
  std::uint64_t flows_ = 0;
};

/// A text as JSON writes it, in quotes.
std::string json_quoted(std::string_view text);

}  // namespace equarx::trace
