#include "experiments/config/counts_json.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json_text.hpp"

namespace equarx::config {
namespace {

using experts::Direction;
using experts::Routing;
using experts::RowsPer;

constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::int64_t kMostExperts = 1 << 12;

constexpr input::EnumNames<RowsPer, 2> kRowsPer({
    {RowsPer::expert, "expert"},
    {RowsPer::rank, "rank"},
});
constexpr input::EnumNames<Direction, 2> kDirections({
    {Direction::dispatch, "dispatch"},
    {Direction::combine, "combine"},
});

constexpr input::Presence kWithoutFile{.is_required = true, .words = "required without `file`"};

const input::Table<Routing>& routing_table() {
  static const input::Table<Routing> table{
      {"tokens", &Routing::tokens, input::Integer{1, kMostTokens}, "per rank", kWithoutFile},
      {"experts", &Routing::experts, input::Integer{1, kMostExperts},
       "divided among the ranks in order, equally", kWithoutFile},
      {"top_k", &Routing::top_k, input::Integer{1, kMostExperts}, "distinct experts of a token",
       kWithoutFile},
      {"skew", &Routing::skew, input::Number{},
       "exponent of the experts' popularity (Zipf), at least 0; 0: all alike"},
      {"seed", &Routing::seed, input::Integer{}, "of the draw"},
      {"capacity_factor", &Routing::capacity_factor, input::Positive{},
       "rows of an expert that a rank may send, relative to the mean; later ones are dropped",
       input::otherwise("no limit")},
      {"rows_per", &Routing::rows_per, input::OneOf{kRowsPer},
       R"(a token sends a row to each of its experts, or (`"rank"`) to each rank with any of them)"},
      {"direction", &Routing::direction, input::OneOf{kDirections},
       R"(tokens to experts, or (`"combine"`) as many rows back)"},
  };
  return table;
}

/// Counts of a line of a file. `line`: from 1.
std::vector<std::uint32_t> counts_of_line(std::string_view text, const std::string& path,
                                          std::size_t line) {
  std::vector<std::uint32_t> counts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view cell = text.substr(begin, end - begin);
    while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.remove_suffix(1);
    std::uint32_t count = 0;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), count);
    if (error != std::errc() || stop != cell.data() + cell.size())
      throw input::UserError(fmt::format("{}, line {}", path, line),
                             fmt::format("'{}' is not a number of rows", cell));
    counts.push_back(count);
    begin = end + 1;
  }
  return counts;
}

/// Reads a line for each sender, with the rows for each receiver.
std::vector<std::uint32_t> read_counts_file(const std::string& path, std::uint32_t ranks) {
  const std::string text = input::read_file(path);
  std::vector<std::uint32_t> counts;
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::uint32_t> line =
        counts_of_line(std::string_view(text).substr(begin, end - begin), path, ++lines);
    if (line.size() != ranks)
      throw input::UserError(fmt::format("{}, line {}", path, lines),
                             fmt::format("has {} counts; each of {} ranks needs one for each of "
                                         "{} receivers",
                                         line.size(), ranks, ranks));
    counts.insert(counts.end(), line.begin(), line.end());
    begin = end + 1;
  }
  if (lines != ranks)
    throw input::UserError(
        path, fmt::format("has {} lines; {} ranks need one for each sender", lines, ranks));
  return counts;
}

Routing read_routing(input::ObjectReader& reader) {
  Routing routing;
  routing_table().read(reader, routing);
  if (routing.skew < 0.0) throw input::InputError(reader.pointer_to("skew"), "must be at least 0");
  return routing;
}

}  // namespace

std::shared_ptr<const CountsConfig> read_counts(input::ObjectReader reader, std::uint32_t ranks,
                                                std::uint32_t node_ranks,
                                                std::uint64_t row_elements) {
  auto read = std::make_shared<CountsConfig>();
  read->counts.row_elements = row_elements;
  if (reader.has("file")) {
    input::Text{}.read(reader, "file", read->file);
    reader.finish();
    read->counts.rows = read_counts_file(read->file, ranks);
  } else {
    read->routing = read_routing(reader);
    reader.finish();
    try {
      experts::RoutedRows routed = experts::routed_rows(read->routing, ranks, node_ranks);
      read->counts.rows = std::move(routed.rows);
      read->counts.first_rows = std::move(routed.first_rows);
      read->dropped = routed.dropped;
      read->imbalance = routed.imbalance;
    } catch (const std::invalid_argument& error) {
      throw input::InputError("/tensor/counts", error.what());
    }
  }
  if (collectives::most_rows(read->counts) == 0)
    throw input::InputError("/tensor/counts", "no rank sends a row");
  return read;
}

input::Json counts_json(const CountsConfig& counts) {
  if (!counts.file.empty()) return {{"file", counts.file}};
  return routing_table().write(counts.routing);
}

input::Json counts_schema() {
  input::Json schema = routing_table().schema();
  input::Json file = input::Text{}.schema();
  input::describe(file,
                  "instead of the others: a `.csv` file with a line of row counts for each "
                  "sender, one for each receiver",
                  input::otherwise("none"), {});
  schema["properties"]["file"] = file;
  const input::Json required = schema["required"];
  schema.erase("required");
  schema["anyOf"] = {{{"required", {"file"}}}, {{"required", required}}};
  return schema;
}

void reject_counts(const ExperimentConfig& config) {
  if (config.tensor.counts)
    throw input::InputError("/tensor/counts",
                            "is for `run`, `show`, `validate`, `sweep` and `reproduce`; remove it");
}

}  // namespace equarx::config
