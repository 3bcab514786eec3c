#include "models/experts/errors.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/stored/stored_codec.hpp"

namespace equarx::experts {
namespace {

/// Rows as received in a format.
std::vector<float> received(const std::optional<stored::StoredFormat>& format, std::size_t width,
                            std::vector<float> rows, unsigned threads) {
  numerics::round_to_element(numerics::ElementFormat::bf16, rows);
  if (!format) return rows;
  if (stored::needs_importance(*format) || stored::needs_inputs(*format))
    throw std::invalid_argument(
        "the format depends on importance or on inputs of a layer, which rows on the wire lack; "
        "use "
        "another");
  const stored::Shape shape{.rows = rows.size() / width, .columns = width};
  rows = stored::decode(*format, stored::encode(*format, shape, rows, {}, threads), threads);
  numerics::round_to_element(numerics::ElementFormat::bf16, rows);
  return rows;
}

double nmse(std::span<const float> values, std::span<const float> exact) {
  numerics::ErrorAccumulator error;
  error.add(values, exact);
  return error.metrics().nmse;
}

/// Exchange of the tokens of a layer, routed by the exact tokens.
class Exchange {
 public:
  Exchange(const Layer& layer, std::vector<float> tokens, unsigned threads)
      : layer_(layer), tokens_(std::move(tokens)), threads_(threads), choices_(count()) {
    for (std::size_t token = 0; token < count(); ++token)
      choices_[token] = choose_experts(layer.shape, layer.router, row(tokens_, token));
  }

  const std::vector<float>& tokens() const { return tokens_; }

  /// Rows of results: tokens x top_k, of `received` tokens.
  std::vector<float> results(const std::vector<float>& received) const {
    const std::size_t top_k = layer_.shape.top_k;
    std::vector<float> rows(received.size() * top_k);
    os::parallel_for(count() * top_k, threads_, [&](std::size_t i, unsigned) {
      const std::uint32_t expert = choices_[i / top_k][i % top_k].expert;
      std::ranges::copy(expert_output(layer_, expert, row(received, i / top_k)),
                        rows.begin() + static_cast<std::ptrdiff_t>(i * layer_.shape.width));
    });
    return rows;
  }

  /// Weighted sums, in the order of the choices.
  std::vector<float> sums(const std::vector<float>& results) const {
    const std::size_t top_k = layer_.shape.top_k;
    std::vector<float> sums(tokens_.size());
    for (std::size_t token = 0; token < count(); ++token)
      for (std::size_t i = 0; i < top_k; ++i) {
        const auto weight = static_cast<float>(choices_[token][i].weight);
        const std::span<const float> result = row(results, token * top_k + i);
        for (std::size_t j = 0; j < layer_.shape.width; ++j)
          sums[token * layer_.shape.width + j] += weight * result[j];
      }
    return sums;
  }

  /// Experts of the next layer's router by token, ascending.
  std::vector<std::vector<std::uint32_t>> next_experts(const std::vector<float>& router,
                                                       const std::vector<float>& sums) const {
    std::vector<std::vector<std::uint32_t>> experts(count());
    for (std::size_t token = 0; token < count(); ++token) {
      std::vector<float> hidden(layer_.shape.width);
      double power = 0.0;
      for (std::size_t i = 0; i < hidden.size(); ++i) {
        hidden[i] = row(tokens_, token)[i] + row(sums, token)[i];
        power += static_cast<double>(hidden[i]) * hidden[i];
      }
      const double scale =
          power > 0.0 ? std::sqrt(static_cast<double>(hidden.size()) / power) : 1.0;
      for (float& value : hidden) value = static_cast<float>(value * scale);
      for (const Choice& choice : choose_experts(layer_.shape, router, hidden))
        experts[token].push_back(choice.expert);
      std::ranges::sort(experts[token]);
    }
    return experts;
  }

 private:
  std::size_t count() const { return tokens_.size() / layer_.shape.width; }
  std::span<const float> row(const std::vector<float>& rows, std::size_t index) const {
    return std::span(rows).subspan(index * layer_.shape.width, layer_.shape.width);
  }

  const Layer& layer_;
  std::vector<float> tokens_;
  unsigned threads_;
  std::vector<std::vector<Choice>> choices_;  ///< by token
};

std::vector<float> next_router(const LayerShape& shape, std::uint64_t seed) {
  return drawn_layer(
             {.width = shape.width, .hidden = 1, .experts = shape.experts, .top_k = shape.top_k},
             seed)
      .router;
}

/// Compares the experts of the next layer after exact and after encoded sums.
void add_rerouted(const Exchange& exchange, const std::vector<float>& router,
                  const std::vector<float>& exact, const std::vector<float>& encoded,
                  ExchangeErrors& errors) {
  const auto before = exchange.next_experts(router, exact);
  const auto after = exchange.next_experts(router, encoded);
  const auto tokens = static_cast<double>(before.size());
  for (std::size_t token = 0; token < before.size(); ++token) {
    std::vector<std::uint32_t> kept;
    std::ranges::set_intersection(before[token], after[token], std::back_inserter(kept));
    const auto choices = static_cast<double>(before[token].size());
    const double moved = choices - static_cast<double>(kept.size());
    errors.rerouted_tokens += (moved > 0.0 ? 1.0 : 0.0) / tokens;
    errors.rerouted_choices += moved / choices / tokens;
  }
}

void check(const Layer& layer, std::span<const float> tokens) {
  if (layer.shape.top_k == 0 || layer.shape.top_k > layer.shape.experts)
    throw std::invalid_argument("a token chooses at least one expert, and at most all");
  if (tokens.empty() || tokens.size() % layer.shape.width != 0)
    throw std::invalid_argument("tokens must be rows of the width of the layer");
  if (!std::ranges::all_of(tokens, [](float value) { return std::isfinite(value); }))
    throw std::invalid_argument("tokens contain NaN or Inf; experts need finite ones");
}

}  // namespace

ExchangeErrors exchange_errors(const Layer& layer, std::span<const float> tokens,
                               const ExchangeFormats& formats, std::uint64_t next_seed,
                               unsigned threads) {
  check(layer, tokens);
  const std::size_t width = layer.shape.width;
  const Exchange exchange(
      layer, received({}, width, std::vector<float>(tokens.begin(), tokens.end()), threads),
      threads);
  const std::vector<float> dispatched =
      received(formats.dispatch, width, exchange.tokens(), threads);
  const std::vector<float> exact = exchange.results(exchange.tokens());
  const std::vector<float> of_dispatched = exchange.results(dispatched);
  const std::vector<float> plain = received({}, width, exact, threads);
  const std::vector<float> combined = received(formats.combine, width, exact, threads);
  const std::vector<float> sums = exchange.sums(plain);
  const std::vector<float> of_both =
      exchange.sums(received(formats.combine, width, of_dispatched, threads));
  ExchangeErrors errors{
      .dispatched_nmse = nmse(dispatched, exchange.tokens()),
      .combined_nmse = nmse(combined, plain),
      .dispatch_nmse = nmse(exchange.sums(received({}, width, of_dispatched, threads)), sums),
      .combine_nmse = nmse(exchange.sums(combined), sums),
      .both_nmse = nmse(of_both, sums)};
  add_rerouted(exchange, next_router(layer.shape, next_seed), sums, of_both, errors);
  return errors;
}

}  // namespace equarx::experts
