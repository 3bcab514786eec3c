#include "experiments/inspect/experts.hpp"

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
#include "models/numerics/errors/metrics.hpp"

namespace equarx::inspect {
namespace {

constexpr std::uint64_t kWeightSeed = 1;
constexpr std::uint64_t kNextSeed = 2;
constexpr std::uint64_t kTokenSeed = 3;
constexpr std::size_t kDrawnTokens = 128;
constexpr std::size_t kDrawnWidth = 512;
constexpr double kPlainBits = 16.0;

/// Rows of a file, or drawn as N(0, 1).
std::vector<float> read_tokens(const ExpertsRequest& request, std::size_t& width) {
  if (!request.activations) {
    width = kDrawnWidth;
    return experts::drawn_tokens(kDrawnTokens * kDrawnWidth, kTokenSeed);
  }
  const std::span<const std::uint64_t> shape = request.activations->shape();
  if (shape.size() != 2)
    throw input::InputError(
        "/activations", fmt::format("has shape {}; give [tokens, width]", fmt::join(shape, " x ")));
  width = shape[1];
  return all_values(*request.activations);
}

double bits_of(const std::optional<stored::StoredFormat>& format, const stored::Shape& rows) {
  if (!format) return kPlainBits;
  return static_cast<double>(stored::stored_bits(*format, rows).total()) /
         static_cast<double>(rows.rows * rows.columns);
}

}  // namespace

ExpertsReport exchange(const ExpertsRequest& request, const experts::ExchangeFormats& formats) {
  if (request.top_k > request.experts)
    throw input::InputError("/top_k",
                            fmt::format("a token chooses at most all {} experts", request.experts));
  ExpertsReport report;
  const std::vector<float> tokens = read_tokens(request, report.shape.width);
  report.tokens = tokens.size() / report.shape.width;
  report.shape.hidden = request.hidden;
  report.shape.experts = request.experts;
  report.shape.top_k = request.top_k;
  return input::at("", [&] {
    const stored::Shape sent{.rows = report.tokens, .columns = report.shape.width};
    const stored::Shape returned{.rows = report.tokens * request.top_k,
                                 .columns = report.shape.width};
    report.dispatch_bits = bits_of(formats.dispatch, sent);
    report.combine_bits = bits_of(formats.combine, returned);
    report.errors = experts::exchange_errors(experts::drawn_layer(report.shape, kWeightSeed),
                                             tokens, formats, kNextSeed, os::default_threads());
    return report;
  });
}

std::string to_table(const ExpertsReport& report) {
  const experts::ExchangeErrors& errors = report.errors;
  const auto decibels = [](double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse)); };
  const std::string sizes = output::aligned_table(
      {{"tokens x width", fmt::format("{} x {}", report.tokens, report.shape.width)},
       {"experts", fmt::format("{} of {}, inner width {}", report.shape.top_k, report.shape.experts,
                               report.shape.hidden)},
       {"tokens with other experts in the next layer",
        fmt::format("{:.2f} %", 100.0 * errors.rerouted_tokens)},
       {"choices of experts that change",
        fmt::format("{:.2f} %", 100.0 * errors.rerouted_choices)}});
  const auto row = [&](const char* title, double bits, double rows, double sums) {
    return output::TableRow{title, figure(bits), figure(rows), figure(sums), decibels(sums)};
  };
  return sizes + "\n" +
         output::aligned_table(
             {{"encoded", "bits per element", "NMSE of rows", "NMSE of sums", "SQNR of sums"},
              row("dispatch", report.dispatch_bits, errors.dispatched_nmse, errors.dispatch_nmse),
              row("combine", report.combine_bits, errors.combined_nmse, errors.combine_nmse),
              {"both", "", "", figure(errors.both_nmse), decibels(errors.both_nmse)}});
}

input::Json to_json(const ExpertsReport& report) {
  const experts::ExchangeErrors& errors = report.errors;
  const auto part = [](double bits, double rows, double sums) {
    return input::Json{{"bits", bits}, {"nmse", rows}, {"sum_nmse", sums}};
  };
  return {{"tokens", report.tokens},
          {"width", report.shape.width},
          {"hidden", report.shape.hidden},
          {"experts", report.shape.experts},
          {"top_k", report.shape.top_k},
          {"dispatch", part(report.dispatch_bits, errors.dispatched_nmse, errors.dispatch_nmse)},
          {"combine", part(report.combine_bits, errors.combined_nmse, errors.combine_nmse)},
          {"sum_nmse", errors.both_nmse},
          {"rerouted_tokens", errors.rerouted_tokens},
          {"rerouted_choices", errors.rerouted_choices}};
}

}  // namespace equarx::inspect
