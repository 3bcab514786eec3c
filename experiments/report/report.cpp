#include "experiments/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/report/columns.hpp"
#include "topologies/markup.hpp"

namespace equarx::report {
namespace {

/// Formats a number with nine digits: more than a simulation's accuracy, and half the size of a
/// full double.
std::string number_text(const input::Json& value) {
  if (!value.is_number_float()) return value.is_null() ? "null" : input::json_text(value);
  const double number = value.get<double>();
  constexpr double kMostExact = 1e15;  // integers, such as sizes, stay exact
  if (number == std::floor(number) && std::abs(number) < kMostExact)
    return fmt::format("{:.0f}", number);
  return std::isfinite(number) ? fmt::format("{:.9g}", number) : "null";
}

/// A comma-separated list in brackets.
template <typename Range, typename ToText>
std::string list(const Range& values, ToText to_text) {
  std::string text = "[";
  for (const auto& value : values) {
    if (text.size() > 1) text += ',';
    text += to_text(value);
  }
  return text + ']';
}

std::string numbers(const std::vector<std::size_t>& values) {
  return list(values, [](std::size_t value) { return fmt::format("{}", value); });
}

/// Dictionary encoding of a column: its distinct values, and the code of each cell.
struct Dictionary {
  std::vector<std::size_t> first_rows;  ///< row of the first appearance of each value
  std::vector<std::size_t> codes;
};

/// Encodes the texts of the cells: as written for an axis of quantities, else their JSON.
Dictionary make_dictionary(const ReportColumn& column) {
  Dictionary dictionary;
  std::unordered_map<std::string, std::size_t> codes;
  for (std::size_t row = 0; row < column.cells.size(); ++row) {
    const auto [code, is_new] = codes.try_emplace(
        column.texts.empty() ? input::json_text(column.cells[row]) : column.texts[row],
        dictionary.first_rows.size());
    if (is_new) dictionary.first_rows.push_back(row);
    dictionary.codes.push_back(code->second);
  }
  return dictionary;
}

std::string column_json(const ReportColumn& column) {
  std::string json = fmt::format(R"({{"key":{},"title":{},"kind":"{}","axis":{},"shown":{},)",
                                 input::json_text(column.key), input::json_text(column.title),
                                 name(column.kind), column.axis, column.shown);
  const Dictionary dictionary = make_dictionary(column);
  // Storing few distinct values once is smaller, and faster to filter, than a number per row.
  const bool repeats = 2 * dictionary.first_rows.size() <= column.cells.size();
  if (column.kind != ColumnKind::text && column.texts.empty() && !repeats)
    return json + fmt::format(R"("values":{}}})", list(column.cells, number_text));
  const auto of_value = [&](std::size_t row) {
    const input::Json& cell = column.cells[row];
    return column.kind == ColumnKind::text ? input::json_text(cell) : number_text(cell);
  };
  json += fmt::format(R"("dictionary":{},)", list(dictionary.first_rows, of_value));
  if (!column.texts.empty())
    json += fmt::format(R"("texts":{},)", list(dictionary.first_rows, [&](std::size_t row) {
                          return input::json_text(column.texts[row]);
                        }));
  return json + fmt::format(R"("codes":{}}})", numbers(dictionary.codes));
}

/// Distinct values of a member of the sources, and the code of each source's value.
struct Shared {
  std::vector<std::string> values;
  std::vector<std::size_t> codes;
};

Shared make_shared(const ReportResults& results, input::JsonValue ReportSource::*member) {
  Shared shared;
  std::unordered_map<std::string, std::size_t> known;
  for (const ReportSource& source : results.sources) {
    const auto [code, is_new] =
        known.try_emplace(input::json_text(source.*member), shared.values.size());
    if (is_new) shared.values.push_back(code->first);
    shared.codes.push_back(code->second);
  }
  return shared;
}

/// Axes of the first row of each source.
std::vector<const input::Json*> axes_by_source(const ReportResults& results) {
  std::vector<const input::Json*> axes(results.sources.size());
  for (const ReportRow& row : results.rows)
    if (axes[row.source] == nullptr) axes[row.source] = &*row.axes;
  return axes;
}

/// Configurations of a sweep differ little: most are stored as a JSON patch of an earlier one. A
/// failed point has its axes instead of a configuration.
std::string sources_json(const ReportResults& results, const Shared& parameters,
                         const Shared& operations) {
  const std::vector<const input::Json*> axes = axes_by_source(results);
  std::optional<std::size_t> base;
  std::string json = "[";
  for (std::size_t i = 0; i < results.sources.size(); ++i) {
    const ReportSource& source = results.sources[i];
    std::string config = fmt::format(R"("config":{})", input::json_text(source.config));
    std::string patch;
    if (base && source.config->is_object())
      patch = fmt::format(
          R"("base":{},"patch":{})", *base,
          input::json_text(input::Json::diff(results.sources[*base].config, source.config)));
    if (!patch.empty() && 2 * patch.size() < config.size()) {
      config = std::move(patch);
    } else if (source.config->is_object()) {
      base = i;
    } else if (axes[i] != nullptr) {
      config += fmt::format(R"(,"axes":{})", input::json_text(*axes[i]));
    }
    json +=
        fmt::format(R"({}{{"version":{},"key":{},"parameters":{},"operations":{},{}}})",
                    i == 0 ? "" : ",", input::json_text(source.version),
                    input::json_text(source.key), parameters.codes[i], operations.codes[i], config);
  }
  return json + "]";
}

std::string pictures_json(const std::vector<ReportPicture>& pictures) {
  return list(pictures, [](const ReportPicture& picture) {
    return input::json_text({{"title", picture.title},
                             {"svg", picture.svg},
                             {"row", input::or_null(picture.row)},
                             {"sources", picture.sources}});
  });
}

std::string replace_each(std::string_view text,
                         const std::vector<std::pair<char, std::string_view>>& replacements) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto found =
        std::ranges::find(replacements, c, &std::pair<char, std::string_view>::first);
    if (found == replacements.end())
      result += c;
    else
      result += found->second;
  }
  return result;
}

/// Escapes characters that could end a script element; in JSON they only appear in strings.
std::string escaped_for_script(std::string_view json) {
  return replace_each(json, {{'&', "\\u0026"}, {'<', "\\u003c"}, {'>', "\\u003e"}});
}

}  // namespace

std::string report_data(const ReportInput& input) {
  const ReportResults& results = input.results;
  std::vector<std::size_t> row_sources;
  for (const ReportRow& row : results.rows) row_sources.push_back(row.source);
  const Shared parameters = make_shared(results, &ReportSource::parameters);
  const Shared operations = make_shared(results, &ReportSource::operations);
  std::string json = fmt::format(R"({{"title":{},"version":{},"advice":{},"notes":{},"rows":{},)",
                                 input::json_text(input.title), input::json_text(input.version),
                                 input::json_text(input.advice), input::json_text(results.notes),
                                 results.rows.size());
  json += fmt::format(R"("columns":{},)", list(make_columns(results), column_json));
  json += fmt::format(R"("row_sources":{},"sources":{},)", numbers(row_sources),
                      sources_json(results, parameters, operations));
  json += fmt::format(R"("parameters":[{}],"operations":[{}],"pictures":{}}})",
                      fmt::join(parameters.values, ","), fmt::join(operations.values, ","),
                      pictures_json(input.pictures));
  return escaped_for_script(json);
}

std::string make_report(const ReportInput& input) {
  constexpr std::string_view kTitle = "{{title}}";
  constexpr std::string_view kData = "{{data}}";
  const std::string_view page = report_template();
  const std::size_t title = page.find(kTitle);
  const std::size_t data = page.find(kData, title);
  if (title == page.npos || data == page.npos)
    throw std::logic_error("the template of the report lacks the title or data placeholder");
  std::string text(page.substr(0, title));
  text += topology::escaped_for_markup(input.title);
  text += page.substr(title + kTitle.size(), data - title - kTitle.size());
  text += report_data(input);
  text += page.substr(data + kData.size());
  return text;
}

}  // namespace equarx::report
