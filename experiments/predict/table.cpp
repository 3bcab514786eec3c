#include "experiments/predict/table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/csv.hpp"
#include "base/output/version.hpp"
#include "base/process/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/predict/predictor.hpp"

namespace equarx::predict {
namespace {

using input::Json;

constexpr std::size_t kMostSizes = 1000;

std::uint64_t read_size(const std::string& text) {
  const double bytes =
      input::at("--bytes", [&] { return units::parse(text, units::Dimension::bytes); });
  if (bytes < 1.0 || bytes != std::floor(bytes) || bytes > 0x1p60)
    throw input::InputError("--bytes", fmt::format("'{}' is not a whole number of bytes", text));
  return static_cast<std::uint64_t>(bytes);
}

/// A size, or a doubling range of sizes.
void add_sizes(const std::string& text, std::vector<std::uint64_t>& sizes) {
  const std::size_t dots = text.find("..");
  const std::uint64_t first = read_size(text.substr(0, dots));
  const std::uint64_t last = dots == std::string::npos ? first : read_size(text.substr(dots + 2));
  if (last < first)
    throw input::InputError("--bytes",
                            fmt::format("'{}' ends before it begins; swap its sizes", text));
  for (std::uint64_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
}

/// Queries of one configured collective, without kind, size and ranks.
struct Configured {
  std::string label;
  Query query;
};

std::vector<Configured> collectives_of(const config::ExperimentConfig& config, const Json& json,
                                       const std::string& label) {
  std::vector<Configured> all;
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    if (!label.empty() && config.collectives[i].label != label) continue;
    Json keys = json.at("collectives").at(i);
    Configured one{config.collectives[i].label, {}};
    one.query.dtype = numerics::name(config.tensor.dtype);
    one.query.algorithm = config::algorithm_name(config.collectives[i].algorithm);
    if (keys.contains("format")) one.query.format = keys["format"].get<std::string>();
    for (const char* key : {"label", "algorithm", "format"}) keys.erase(key);
    if (!keys.empty()) one.query.options = keys.dump();
    all.push_back(std::move(one));
  }
  if (!all.empty()) return all;
  std::vector<std::string> labels;
  for (const config::CollectiveConfig& one : config.collectives) labels.push_back(one.label);
  throw input::InputError("--collective", fmt::format("'{}' is unknown; use one of {}", label,
                                                      fmt::join(labels, ", ")));
}

/// @throws input::InputError for an unknown kind of collective
void check_kind(const std::string& kind) {
  const Json json = {{"collective", kind}};
  input::ObjectReader reader(json, "");
  try {
    config::read_collective_kind(reader);
  } catch (const input::InputError& error) {
    throw input::InputError("--collectives", error.message());
  }
}

std::vector<TableRow> all_points(const std::vector<Configured>& configured, const Grid& grid,
                                 const std::string& own_kind) {
  const std::vector<std::string> kinds =
      grid.collectives.empty() ? std::vector{own_kind} : grid.collectives;
  for (const std::string& kind : kinds) check_kind(kind);
  std::vector<TableRow> rows;
  for (const Configured& one : configured)
    for (const std::string& kind : kinds)
      for (const std::uint32_t ranks : grid.ranks)
        for (const std::uint64_t bytes : grid.bytes) {
          TableRow row{one.label, one.query, nullptr};
          row.query.collective = kind;
          row.query.ranks = ranks;
          row.query.bytes = bytes;
          rows.push_back(std::move(row));
        }
  return rows;
}

/// Fills in the predictions; returns the obstacles, by row.
std::vector<std::string> predict_all(const Predictor& predictor, std::vector<TableRow>& rows,
                                     const TableOptions& options) {
  std::vector<std::string> obstacles(rows.size());
  std::mutex mutex;
  std::size_t done = 0;
  process::parallel_for(
      rows.size(), plan::simulating_threads(sim::Engine::direct), [&](std::size_t i) {
        try {
          rows[i].prediction = predictor.predict(rows[i].query);
        } catch (const input::UserError& error) {
          obstacles[i] = error.what();
        }
        const std::scoped_lock lock(mutex);
        ++done;
        if (options.share)
          options.share(static_cast<double>(done) / static_cast<double>(rows.size()));
      });
  return obstacles;
}

/// Text of a number; empty for NaN.
std::string cell(double value, int digits) {
  if (std::isnan(value)) return "";
  return std::isinf(value) ? (value > 0.0 ? "inf" : "-inf") : fmt::format("{:.{}g}", value, digits);
}

std::string microseconds(double seconds) {
  constexpr int kDigits = 6;
  return cell(seconds * 1e6, kDigits);
}

/// Format on the wire, by default the tensor's type.
std::string format_of(const Query& query) {
  return query.format.empty() ? query.dtype : query.format;
}

using Names = std::array<std::pair<std::string_view, std::string_view>, 4>;

constexpr Names kNcclOperations = {{{"all-reduce", "all_reduce"},
                                    {"all-gather", "all_gather"},
                                    {"reduce-scatter", "reduce_scatter"},
                                    {"all-to-all", "alltoall"}}};
/// CommQuantMode by type of the tensor.
constexpr Names kNcclTypes = {
    {{"bf16", "half"}, {"fp16", "half"}, {"fp8-e4m3", "fp8"}, {"fp8-e5m2", "fp8"}}};

std::string_view nccl_name(const Names& names, std::string_view name) {
  const auto* const at =
      std::ranges::find(names, name, [](const auto& pair) { return pair.first; });
  if (at != names.end()) return at->second;
  std::vector<std::string_view> known;
  for (const auto& [own, other] : names) known.push_back(own);
  throw input::InputError(
      "", fmt::format("nccl_perf.txt has no '{}'; use {}", name, fmt::join(known, ", ")));
}

}  // namespace

std::vector<std::uint64_t> read_sizes(const std::string& text) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    add_sizes(text.substr(begin, end - begin), sizes);
    begin = end + 1;
  }
  if (sizes.size() > kMostSizes)
    throw input::InputError("--bytes", fmt::format("has more than {} sizes", kMostSizes));
  return sizes;
}

Table make_table(const input::JsonValue& json, const Grid& grid, const TableOptions& options) {
  const config::ExperimentConfig config = config::read_config(json);
  if (config.tensor.counts)
    throw input::InputError("/tensor/counts", "sets the size of the tensor; remove it");
  const std::vector<Configured> configured = collectives_of(config, json, options.label);
  const Predictor predictor(
      machine_of(json), {.threads = 1, .errors = options.errors, .intervals = options.intervals});
  Table table{predictor.hardware(), predictor.chips(), {}, 0, {}};
  const Json& plain = json;
  std::vector<TableRow> rows = all_points(
      configured, grid,
      plain.contains("collective") ? plain["collective"].get<std::string>() : Query{}.collective);
  const std::vector<std::string> obstacles = predict_all(predictor, rows, options);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].prediction) {
      table.rows.push_back(std::move(rows[i]));
      continue;
    }
    if (table.left_out++ == 0) table.obstacle = obstacles[i];
  }
  if (table.rows.empty()) throw input::InputError("", table.obstacle);
  return table;
}

std::string to_csv(const Table& table) {
  constexpr int kDigits = 4;
  std::vector<output::CsvRow> rows = {{"collective", "dtype", "format", "algorithm", "protocol",
                                       "ranks", "bytes", "time_us", "low_us", "high_us",
                                       "sqnr_db"}};
  for (const auto& [label, query, prediction] : table.rows)
    rows.push_back({query.collective, query.dtype, format_of(query), prediction->algorithm,
                    prediction->protocol, std::to_string(prediction->ranks),
                    std::to_string(query.bytes), microseconds(prediction->time_s),
                    microseconds(prediction->low_s), microseconds(prediction->high_s),
                    cell(prediction->sqnr_db, kDigits)});
  return output::csv(rows);
}

std::string to_nccl_perf(const Table& table) {
  constexpr int kDigits = 6;
  std::vector<output::CsvRow> rows = {{"framework", "version", "device", "op_name", "kernel_source",
                                       "nccl_dtype", "num_gpus", "message_size", "latency"}};
  std::set<std::vector<std::string>> keys;
  for (const auto& [label, query, prediction] : table.rows) {
    const std::string operation(nccl_name(kNcclOperations, query.collective));
    const std::string type(nccl_name(kNcclTypes, query.dtype));
    const std::uint64_t element_bytes = type == "half" ? 2 : 1;
    const std::string ranks = std::to_string(prediction->ranks);
    const std::string elements = std::to_string(query.bytes / element_bytes);
    if (!keys.insert({operation, type, ranks, elements}).second)
      throw input::InputError("--collective",
                              "nccl_perf.txt has one row per size; name one collective");
    rows.push_back({"equarx-sim", std::string(output::version()), table.hardware, operation,
                    prediction->algorithm, type, ranks, elements,
                    cell(prediction->time_s * 1e3, kDigits)});
  }
  return output::csv(rows);
}

}  // namespace equarx::predict
