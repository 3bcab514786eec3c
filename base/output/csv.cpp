#include "base/output/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::output {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

}  // namespace

std::string csv(const std::vector<CsvRow>& rows) {
  std::string text;
  for (const CsvRow& row : rows) {
    CsvRow fields;
    for (const std::string& field : row) fields.push_back(quoted(field));
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace equarx::output
