#include "experiments/trace/events.hpp"

#include <cmath>
#include <iterator>
#include <string>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"

namespace equarx::trace {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;
constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

/// Formats a time in microseconds with all digits.
struct Microseconds {
  Picoseconds time;
};

}  // namespace
}  // namespace equarx::trace

template <>
struct fmt::formatter<equarx::trace::Microseconds> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <typename Context>
  auto format(equarx::trace::Microseconds value, Context& context) const {
    using equarx::trace::kPicosecondsPerMicrosecond;
    return fmt::format_to(context.out(), "{}.{:06}", value.time / kPicosecondsPerMicrosecond,
                          value.time % kPicosecondsPerMicrosecond);
  }
};

namespace equarx::trace {

Picoseconds to_picoseconds(double seconds) { return std::llround(seconds * kPicosecondsPerSecond); }

std::string json_quoted(std::string_view text) { return input::json_text(text); }

TraceEventWriter::TraceEventWriter(std::ostream& out) : out_(out) {
  out_ << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
}

void TraceEventWriter::begin_event() {
  if (buffer_.size() >= kBufferBytes) flush();
  fmt::format_to(std::back_inserter(buffer_), "{}", first_ ? "\n" : ",\n");
  first_ = false;
}

void TraceEventWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void TraceEventWriter::name_process(std::uint32_t process, std::string_view name) {
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":{1}}}}},)"
      "\n"
      R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
      process, json_quoted(name));
}

void TraceEventWriter::name_track(Track track, std::string_view name) {
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":{2}}}}},)"
      "\n"
      R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})",
      track.process, track.thread, json_quoted(name));
}

void TraceEventWriter::add_slice(const Slice& slice, std::string_view arguments) {
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
      slice.name, slice.category, slice.track.process, slice.track.thread,
      Microseconds{slice.start}, Microseconds{slice.end - slice.start}, arguments);
}

void TraceEventWriter::add_flow(Track from, Picoseconds start, Track to, Picoseconds end) {
  ++flows_;
  begin_event();
  constexpr std::string_view kHalf =
      R"({{"ph":"{}","name":"transfer","cat":"transfer","id":{},"pid":{},"tid":{},"ts":{}{}}})";
  fmt::format_to(std::back_inserter(buffer_), kHalf, "s", flows_, from.process, from.thread,
                 Microseconds{start}, "");
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), kHalf, "f", flows_, to.process, to.thread,
                 Microseconds{end}, R"(,"bp":"e")");
}

void TraceEventWriter::add_count(std::uint32_t process, std::string_view name, Picoseconds time,
                                 int count) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"transfers":{}}}}})",
                 json_quoted(name), process, Microseconds{time}, count);
}

void TraceEventWriter::finish(const input::Json& other) {
  flush();
  out_ << "\n],\n\"otherData\": " << input::json_text(other) << "}\n";
}

}  // namespace equarx::trace
