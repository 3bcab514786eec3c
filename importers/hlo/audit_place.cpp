#include "importers/hlo/audit_place.hpp"

#include <fmt/format.h>

namespace equarx::hlo {
namespace {

/// Value of "key=12" or key="a.py" in a text; empty if absent.
std::string_view value_of(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while ((at = text.find(key, at)) != std::string_view::npos) {
    const bool begins =
        at == 0 || text[at - 1] == ' ' || text[at - 1] == '{' || text[at - 1] == ',';
    at += key.size();
    if (!begins || at >= text.size() || text[at] != '=') continue;
    std::string_view rest = text.substr(at + 1);
    if (!rest.starts_with('"')) return rest.substr(0, rest.find_first_of(" ,}"));
    rest.remove_prefix(1);
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

/// Calls `use` with id and rest of each line of a table such as "FileNames".
template <typename Use>
void read_table(std::string_view text, std::string_view name, Use use) {
  const std::string heading = fmt::format("\n{}\n", name);
  std::size_t at = text.find(heading);
  if (at == std::string_view::npos) return;
  for (at += heading.size(); at < text.size();) {
    const std::string_view line = line_at(text, at);
    const std::size_t space = line.find(' ');
    if (line.empty() || line.front() < '0' || line.front() > '9' || space == line.npos) return;
    use(std::string(line.substr(0, space)), line.substr(space + 1));
    at += line.size() + 1;
  }
}

std::string found(const std::unordered_map<std::string, std::string>& table, std::string_view id) {
  const auto known = table.find(std::string(id));
  return known == table.end() ? std::string() : known->second;
}

}  // namespace

Places::Places(std::string_view text) {
  read_table(text, "FileNames", [&](std::string id, std::string_view rest) {
    if (rest.size() > 1 && rest.front() == '"') rest = rest.substr(1, rest.find('"', 1) - 1);
    files_.emplace(std::move(id), rest);
  });
  read_table(text, "FileLocations", [&](std::string id, std::string_view rest) {
    const std::string file = found(files_, value_of(rest, "file_name_id"));
    if (!file.empty())
      locations_.emplace(std::move(id), fmt::format("{}:{}", file, value_of(rest, "line")));
  });
  read_table(text, "StackFrames", [&](std::string id, std::string_view rest) {
    const std::string location = found(locations_, value_of(rest, "file_location_id"));
    if (!location.empty()) frames_.emplace(std::move(id), location);
  });
}

std::string Places::of(const Instruction& instruction) const {
  const std::string_view metadata = instruction.attribute("metadata");
  const std::string_view file = value_of(metadata, "source_file");
  const std::string_view line = value_of(metadata, "source_line");
  if (!file.empty()) return line.empty() ? std::string(file) : fmt::format("{}:{}", file, line);
  const std::string place = found(frames_, value_of(metadata, "stack_frame_id"));
  return place.empty() ? fmt::format("line {} of the program", instruction.line) : place;
}

}  // namespace equarx::hlo
