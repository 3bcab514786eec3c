#include "experiments/inspect/attention.hpp"

#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/threads.hpp"
#include "base/output/table.hpp"
#include "experiments/inspect/figures.hpp"
#include "experiments/inspect/stored_pieces.hpp"
#include "models/attention/drawn.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::inspect {
namespace {

using attention::Cache;
using attention::CacheShape;

constexpr std::uint64_t kSeed = 1;
/// Queries of each head, without a file.
constexpr std::size_t kQueries = 16;
/// Cache without files; the head size may be given.
constexpr CacheShape kDrawn{.tokens = 1024, .heads = 8, .head_size = 128};

/// Rows of all heads, side by side.
struct Rows {
  CacheShape shape;  ///< its tokens are rows
  std::vector<float> values;
};

/// [heads, rows, size] as rows of all heads.
std::vector<float> side_by_side(const CacheShape& shape, std::span<const float> by_head) {
  std::vector<float> values(by_head.size());
  for (std::size_t row = 0; row < shape.tokens; ++row)
    for (std::size_t head = 0; head < shape.heads; ++head)
      for (std::size_t i = 0; i < shape.head_size; ++i)
        values[row * shape.columns() + head * shape.head_size + i] =
            by_head[(head * shape.tokens + row) * shape.head_size + i];
  return values;
}

/// @throws InputError for shapes of other dimensions, at `pointer`
Rows read_rows(const tensors::TensorFile& file, const std::optional<std::uint64_t>& head_size,
               const std::string& pointer) {
  const std::vector<std::size_t> shape(file.shape().begin(), file.shape().end());
  constexpr std::size_t kByHead = 3;
  if (shape.size() == kByHead) {
    const CacheShape found{.tokens = shape[1], .heads = shape[0], .head_size = shape[2]};
    if (head_size && *head_size != found.head_size)
      throw input::InputError("/head_size",
                              fmt::format("there are heads of {}; remove it", shape[2]));
    return {found, side_by_side(found, all_values(file))};
  }
  if (shape.size() != 2 || !head_size || shape[1] % *head_size != 0)
    throw input::InputError(
        pointer, fmt::format("has shape {}; give [heads, tokens, head size], or [tokens, heads x "
                             "head size] with --head-size",
                             fmt::join(shape, " x ")));
  const auto size = static_cast<std::size_t>(*head_size);
  return {{.tokens = shape[0], .heads = shape[1] / size, .head_size = size}, all_values(file)};
}

/// Keys and values of files, or drawn.
attention::OwnedCache read_cache(const AttentionFiles& files) {
  if (files.keys.has_value() != files.values.has_value())
    throw input::InputError(files.keys ? "/keys" : "/values",
                            "give files of keys and of values, or neither");
  if (!files.keys) {
    CacheShape shape = kDrawn;
    shape.head_size = files.head_size.value_or(shape.head_size);
    return attention::DrawnCache(shape, kSeed);
  }
  Rows keys = read_rows(*files.keys, files.head_size, "/keys");
  Rows values = read_rows(*files.values, files.head_size, "/values");
  if (keys.shape != values.shape)
    throw input::InputError("/values", fmt::format("has shape {}, keys have {}; give equal ones",
                                                   fmt::join(files.values->shape(), " x "),
                                                   fmt::join(files.keys->shape(), " x ")));
  return {keys.shape, std::move(keys.values), std::move(values.values)};
}

Rows read_queries(const AttentionFiles& files, const Cache& cache) {
  const CacheShape& shape = cache.shape;
  if (!std::isfinite(files.spread) || files.spread < 0.0)
    throw input::InputError("/spread", "give a finite number, not negative");
  if (!files.queries) {
    const std::size_t rows = std::min(kQueries, shape.tokens);
    return {{.tokens = rows, .heads = shape.heads, .head_size = shape.head_size},
            attention::drawn_queries(cache, rows, shape.heads, files.spread, kSeed)};
  }
  Rows queries = read_rows(*files.queries, files.head_size, "/queries");
  if (queries.shape.head_size != shape.head_size)
    throw input::InputError("/queries", fmt::format("has heads of {} elements, keys of {}",
                                                    queries.shape.head_size, shape.head_size));
  return queries;
}

double nmse(std::span<const float> values, std::span<const float> exact) {
  numerics::ErrorAccumulator error;
  error.add(values, exact);
  return error.metrics().nmse;
}

input::Json part_json(const StoredPart& part, double output_nmse) {
  return {{"bits", part.bits}, {"nmse", part.nmse}, {"output_nmse", output_nmse}};
}

}  // namespace

AttentionReport attend(const AttentionFiles& files, const attention::CacheFormats& formats) {
  const attention::OwnedCache tensors = read_cache(files);
  const Cache exact = tensors.view();
  const Rows queries = read_queries(files, exact);
  const unsigned threads = os::default_threads();
  return input::at("", [&]() -> AttentionReport {
    const attention::StoredCache stored(exact, formats, threads);
    return {.shape = exact.shape,
            .query_rows = queries.shape.tokens,
            .query_heads = queries.shape.heads,
            .keys = {stored.keys_bits, nmse(stored.keys, exact.keys)},
            .values = {stored.values_bits, nmse(stored.values, exact.values)},
            .outputs = attention::errors(exact, stored.view(),
                                         {.rows = queries.shape.tokens,
                                          .heads = queries.shape.heads,
                                          .values = queries.values,
                                          .causal = files.causal},
                                         threads)};
  });
}

std::string to_table(const AttentionReport& report) {
  const attention::Errors& outputs = report.outputs;
  const auto decibels = [](double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse)); };
  const std::string sizes = output::aligned_table(
      {{"tokens x heads x head size", fmt::format("{} x {} x {}", report.shape.tokens,
                                                  report.shape.heads, report.shape.head_size)},
       {"queries x heads", fmt::format("{} x {}", report.query_rows, report.query_heads)},
       {"largest change of a probability", figure(outputs.largest_change)}});
  const auto row = [&](const char* title, const StoredPart& part, double output_nmse) {
    return output::TableRow{title, figure(part.bits), figure(part.nmse), figure(output_nmse),
                            decibels(output_nmse)};
  };
  return sizes + "\n" +
         output::aligned_table(
             {{"stored", "bits per element", "NMSE", "NMSE of outputs", "SQNR of outputs"},
              row("keys", report.keys, outputs.keys_nmse),
              row("values", report.values, outputs.values_nmse),
              {"both", figure((report.keys.bits + report.values.bits) / 2), "",
               figure(outputs.both_nmse), decibels(outputs.both_nmse)}});
}

input::Json to_json(const AttentionReport& report) {
  return {{"tokens", report.shape.tokens},
          {"heads", report.shape.heads},
          {"head_size", report.shape.head_size},
          {"queries", report.query_rows},
          {"query_heads", report.query_heads},
          {"keys", part_json(report.keys, report.outputs.keys_nmse)},
          {"values", part_json(report.values, report.outputs.values_nmse)},
          {"output_nmse", report.outputs.both_nmse},
          {"largest_probability_change", report.outputs.largest_change}};
}

}  // namespace equarx::inspect
