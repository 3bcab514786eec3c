#include "experiments/config/request_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json_text.hpp"

namespace equarx::config {
namespace {

using input::UserError;
using Cells = std::vector<std::string_view>;

/// A column and its names in published traces.
struct Column {
  std::string_view meaning;
  std::array<std::string_view, 4> names;
};

constexpr Column kArrival{"arrival", {"arrival_s", "TIMESTAMP", "Timestamp", "arrived_at"}};
constexpr Column kPrompt{"prompt",
                         {"prompt", "ContextTokens", "Request tokens", "num_prefill_tokens"}};
constexpr Column kPrefix{"prefix", {"prefix"}};
constexpr Column kPrefixTokens{"prefix_tokens", {"prefix_tokens"}};
constexpr Column kOutput{"output",
                         {"output", "GeneratedTokens", "Response tokens", "num_decode_tokens"}};

Cells split(std::string_view line) {
  Cells cells;
  while (true) {
    const std::size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"' || cell.back() == '\r'))
      cell.remove_suffix(1);
    cells.push_back(cell);
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> find_column(const Cells& header, const Column& column) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (std::ranges::find(column.names, header[i]) != column.names.end()) return i;
  return std::nullopt;
}

std::size_t index_of(const Cells& header, const Column& column, const std::string& path) {
  if (const std::optional<std::size_t> found = find_column(header, column)) return *found;
  throw UserError(fmt::format("{}, line 1", path),
                  fmt::format("there is no column of the {}; name it \"{}\"", column.meaning,
                              column.names.front()));
}

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// A number of decimal digits.
std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Seconds of "2023-11-16 18:15:46.68", from 1970 on; std::nullopt for other texts.
std::optional<double> seconds_of_date(std::string_view text) {
  constexpr std::size_t kDate = 10;          // YYYY-MM-DD
  constexpr std::size_t kClock = kDate + 9;  // and a space, HH:MM:SS
  if (text.size() < kClock || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  constexpr double kMinuteSeconds = 60.0;
  constexpr int kMostHour = 23;
  constexpr int kMostMinute = 59;
  const auto part = [&](std::size_t first, std::size_t length) {
    return whole(text.substr(first, length));
  };
  const auto year = part(0, 4);
  const auto month = part(5, 2);
  const auto day = part(8, 2);
  const auto hour = part(11, 2);
  const auto minute = part(14, 2);
  const auto second = number(text.substr(kDate + 7));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (*hour > kMostHour || *minute > kMostMinute || *second < 0.0 ||
      *second >= kMinuteSeconds + 1.0)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  constexpr double kDaySeconds = 86400.0;
  constexpr double kHourSeconds = 3600.0;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * kDaySeconds + *hour * kHourSeconds + *minute * kMinuteSeconds +
         *second;
}

/// Reads lines, with their number for messages.
class TraceReader {
 public:
  explicit TraceReader(const std::string& path) : path_(path), text_(input::read_file(path)) {}

  std::vector<serving::Request> read() {
    std::string line;
    if (!next(line)) throw UserError(path_, "is empty; it needs a header and a line per request");
    const Cells header = split(line);
    const std::size_t arrival = index_of(header, kArrival, path_);
    const std::size_t prompt = index_of(header, kPrompt, path_);
    const std::size_t output = index_of(header, kOutput, path_);
    const Prefixes prefixes = prefix_columns(header);
    std::vector<serving::Request> requests;
    while (next(line)) {
      const Cells cells = split(line);
      if (cells.size() != header.size())
        fail(fmt::format("has {} columns; the header has {}", cells.size(), header.size()));
      const std::uint64_t generated = tokens(cells[output], kOutput, 0);
      if (generated == 0) continue;
      requests.push_back({.arrival_s = time(cells[arrival]),
                          .prompt = tokens(cells[prompt], kPrompt, 1),
                          .output = generated});
      if (prefixes) add_prefix(cells[prefixes->first], cells[prefixes->second], requests.back());
    }
    if (requests.empty()) throw UserError(path_, "lists no request with output");
    std::ranges::stable_sort(requests, {}, &serving::Request::arrival_s);
    const double first_s = requests.front().arrival_s;
    for (serving::Request& request : requests) request.arrival_s -= first_s;
    return requests;
  }

 private:
  /// Columns of the text that starts a prompt, and of its tokens.
  using Prefixes = std::optional<std::pair<std::size_t, std::size_t>>;

  Prefixes prefix_columns(const Cells& header) const {
    if (!find_column(header, kPrefix) && !find_column(header, kPrefixTokens)) return std::nullopt;
    return std::pair(index_of(header, kPrefix, path_), index_of(header, kPrefixTokens, path_));
  }

  /// Equal names are equal texts.
  void add_prefix(std::string_view name, std::string_view length, serving::Request& request) {
    request.prefix_tokens = tokens(length, kPrefixTokens, 0);
    if (request.prefix_tokens > request.prompt)
      fail(fmt::format("the prefix of {} tokens is longer than its prompt of {}",
                       request.prefix_tokens, request.prompt));
    request.prefix = texts_.emplace(name, texts_.size()).first->second;
  }

  bool next(std::string& line) {
    while (std::getline(text_, line)) {
      ++line_;
      if (line.find_first_not_of(" \r") != std::string::npos) return true;
    }
    return false;
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(fmt::format("{}, line {}", path_, line_), message);
  }

  double time(std::string_view cell) const {
    const std::optional<double> seconds = number(cell);
    if (seconds && *seconds >= 0.0) return *seconds;
    if (seconds) fail(fmt::format("the arrival {} is negative; arrivals start at 0", cell));
    const std::optional<double> date = seconds_of_date(cell);
    if (!date)
      fail(
          fmt::format("the arrival \"{}\" is neither a number of seconds nor a date like "
                      "\"2023-11-16 18:15:46.68\"",
                      cell));
    return *date;
  }

  std::uint64_t tokens(std::string_view cell, const Column& column, std::uint64_t least) const {
    constexpr double kMost = 1e9;
    const std::optional<double> count = number(cell);
    if (!count || *count != std::floor(*count) || *count < static_cast<double>(least) ||
        *count > kMost)
      fail(fmt::format("the {} \"{}\" is not a number of tokens from {} to {}", column.meaning,
                       cell, least, kMost));
    return static_cast<std::uint64_t>(*count);
  }

  const std::string& path_;
  std::istringstream text_;
  std::size_t line_ = 0;
  std::unordered_map<std::string, std::uint64_t> texts_;  ///< numbers of prefixes
};

}  // namespace

std::vector<serving::Request> read_request_trace(const std::string& path) {
  return TraceReader(path).read();
}

}  // namespace equarx::config
