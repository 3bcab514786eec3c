#include "experiments/sweep/store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/renamed_keys.hpp"
#include "base/output/files.hpp"
#include "base/output/provenance.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/result/json.hpp"

namespace equarx::sweep {
namespace {

constexpr const char* kFileName = "results.jsonl";
constexpr std::string_view kLineStart = R"({"point":)";

/// A line of the file.
struct Line {
  std::string_view text;  ///< with its line feed
  std::string key;        ///< empty if the line is truncated
  std::string version;
  std::size_t lines_of_point = 1;
  PointState state = PointState::computed;
};

/// True for an invalid line that may be the remainder of a truncated one.
bool may_be_broken(std::string_view text) {
  const std::size_t length = std::min(text.size(), kLineStart.size());
  return text.substr(0, length) == kLineStart.substr(0, length);
}

/// Reads a line. @throws InputError if it was not written by a sweep
Line read_line(std::string_view text) {
  Line line{.text = text, .key = {}, .version = {}};
  const input::Json json = text.ends_with('\n') ? input::Json::parse(text, nullptr, false)
                                                : input::Json(input::Json::value_t::discarded);
  if (json.is_discarded() && may_be_broken(text)) return line;
  const auto member = [&](const char* name) -> const input::Json& {
    if (!json.is_object() || !json.contains(name))
      throw input::InputError("", fmt::format("has no '{}'", name));
    return json.at(name);
  };
  try {
    line.key = member("key").get<std::string>();
    line.version = member("version").get<std::string>();
    if (json.contains("error"))
      line.state = PointState::failed;
    else if (json.contains("status"))
      line.state = PointState::does_not_fit;
    else
      line.lines_of_point = config::compared(member("config")).size();
  } catch (const input::Json::exception&) {
    throw input::InputError("", "is not in the format of a sweep");
  }
  return line;
}

std::vector<Line> read_lines(std::string_view text, const std::filesystem::path& file) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    try {
      lines.push_back(read_line(line));
    } catch (const input::InputError& error) {
      throw input::InputError(
          "", fmt::format("{}: line {} is not from a sweep ({}); choose another folder with -o, or "
                          "move the file aside with --fresh",
                          file.string(), lines.size() + 1, error.what()));
    }
    const std::string& version = lines.back().version;
    if (!lines.back().key.empty() && version != output::version())
      throw input::InputError(
          "", fmt::format(
                  "{}: line {} was computed by version {} of this program, not by this version {}; "
                  "results of different versions cannot be mixed, so move the old ones aside with "
                  "--fresh, or choose another folder with -o",
                  file.string(), lines.size(), version, output::version()));
    text.remove_prefix(line.size());
  }
  return lines;
}

}  // namespace

SweepStore::SweepStore(const std::filesystem::path& folder) : file_(folder / kFileName) {
  if (std::filesystem::exists(file_)) load(input::read_file(file_.string()));
}

void SweepStore::load(std::string_view text) {
  const std::vector<Line> lines = read_lines(text, file_);
  has_old_keys_ = input::has_renamed_keys(text);
  for (std::size_t i = 0; i < lines.size();) {
    const Line& first = lines[i];
    std::size_t end = i + 1;
    while (end < lines.size() && end - i < first.lines_of_point && lines[end].key == first.key &&
           lines[end].state == PointState::computed)
      ++end;
    if (first.key.empty() || end - i < first.lines_of_point) {
      broken_ += end - i;
    } else {
      StoredPoint& point = points_[first.key];
      // A point may repeat, from other shards or from a retry.
      const bool supersedes = point.bytes == 0 || point.failed();
      const std::size_t offset = kept_.size();
      for (std::size_t k = i; k < end; ++k) kept_ += lines[k].text;
      if (supersedes) point = {offset, kept_.size() - offset, first.state};
    }
    i = end;
  }
  if (broken_ == 0) kept_.clear();
}

const StoredPoint* SweepStore::find(const std::string& key) const {
  const auto found = points_.find(key);
  return found == points_.end() ? nullptr : &found->second;
}

void SweepStore::open() {
  constexpr mode_t kMode = 0666;  // restricted by the umask
  if (broken_ > 0) output::write_file(file_, kept_);
  descriptor_ =
      os::FileDescriptor(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, kMode));
  if (!descriptor_.is_open())
    throw input::InputError(
        "", fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno)));
}

std::string SweepStore::lines(const StoredPoint& point) const {
  std::string text(point.bytes, ' ');
  const ssize_t count =
      pread(descriptor_.number(), text.data(), text.size(), static_cast<off_t>(point.offset));
  if (count != static_cast<ssize_t>(text.size()))
    throw input::InputError("", fmt::format("cannot read {}; was it modified?", file_.string()));
  return text;
}

std::vector<input::JsonValue> SweepStore::results(const StoredPoint& point) const {
  const std::string text = lines(point);
  std::vector<input::JsonValue> results;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
    results.emplace_back(input::parse_json(rest.substr(0, rest.find('\n'))));
  if (has_old_keys_)
    for (input::JsonValue& result : results)
      if (result->contains("run")) input::rename_keys((*result)["run"]);
  return results;
}

std::vector<std::string> SweepStore::current_lines(const StoredPoint& point) const {
  std::vector<std::string> current;
  if (has_old_keys_) {
    for (const input::JsonValue& result : results(point))
      current.push_back(input::json_text(result));
    return current;
  }
  const std::string text = lines(point);
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
    current.emplace_back(rest.substr(0, rest.find('\n')));
  return current;
}

void SweepStore::append(const std::string& key, const std::string& lines, PointState state) {
  struct stat before {};
  fstat(descriptor_.number(), &before);
  // A single call, so that a killed process leaves no partial point.
  const ssize_t written = write(descriptor_.number(), lines.data(), lines.size());
  if (written != static_cast<ssize_t>(lines.size())) {
    const int error = written < 0 ? errno : ENOSPC;
    // If this fails, the next sweep detects the truncated line.
    [[maybe_unused]] const int truncated = ftruncate(descriptor_.number(), before.st_size);
    throw input::InputError(
        "",
        fmt::format("cannot write {}: {}; its contents are intact, so free some space and run the "
                    "same command again to continue",
                    file_.string(), std::strerror(error)));
  }
  points_[key] = {static_cast<std::uint64_t>(before.st_size), lines.size(), state};
}

void SweepStore::replace(const std::string& text) {
  output::write_file(file_, text);
  points_.clear();
  broken_ = 0;
  load(text);
  open();
}

bool is_of_another_version(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kFileName;
  if (!std::filesystem::exists(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw input::InputError("", fmt::format("cannot read {}", file.string()));
  std::string text;
  std::getline(stream, text);
  if (!stream.eof()) text += '\n';
  try {
    const Line first = read_line(text);
    return !first.key.empty() && first.version != output::version();
  } catch (const input::InputError&) {  // not from a sweep: reported when the file is loaded
    return false;
  }
}

std::filesystem::path move_results_aside(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kFileName;
  if (!std::filesystem::exists(file)) return {};
  std::filesystem::path aside;
  int number = 1;
  do aside = folder / fmt::format("results.{}.jsonl", number++);
  while (std::filesystem::exists(aside));
  std::error_code error;
  std::filesystem::rename(file, aside, error);
  if (error)
    throw input::InputError("", fmt::format("cannot move {}: {}", file.string(), error.message()));
  return aside;
}

}  // namespace equarx::sweep
