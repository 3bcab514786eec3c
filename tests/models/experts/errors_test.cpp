#include "models/experts/errors.hpp"

#include <limits>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/round_values.hpp"
#include "models/stored/stored_codec.hpp"
#include "tests/catch.hpp"

namespace equarx::experts::errors_test {
namespace {

constexpr std::uint64_t kNext = 2;

std::vector<float> tokens_of(std::size_t count) { return drawn_tokens(count, 5); }

Layer small_layer() {
  return drawn_layer({.width = 64, .hidden = 32, .experts = 8, .top_k = 2}, 1);
}

/// Integers of some bits with a scale per row.
stored::StoredFormat integers(int bits) {
  stored::StoredFormat format;
  format.elements.bits = bits;
  format.elements.levels = (1U << static_cast<unsigned>(bits)) - 1;
  format.groups = {.along = stored::Along::row, .length = 0, .rows = 1};
  return format;
}

TEST_CASE("bf16 in both directions has no error") {
  const ExchangeErrors errors = exchange_errors(small_layer(), tokens_of(32 * 64), {}, kNext);
  CHECK(errors.dispatched_nmse == 0.0);
  CHECK(errors.both_nmse == 0.0);
  CHECK(errors.rerouted_tokens == 0.0);
}

TEST_CASE("fewer bits have more error, in either direction") {
  const Layer layer = small_layer();
  const std::vector<float> tokens = tokens_of(64 * 64);
  ExchangeErrors before;
  for (const int bits : {8, 6, 4}) {
    const ExchangeErrors errors =
        exchange_errors(layer, tokens, {integers(bits), integers(bits)}, kNext);
    CHECK(errors.dispatch_nmse > before.dispatch_nmse);
    CHECK(errors.combine_nmse > before.combine_nmse);
    CHECK(errors.both_nmse > errors.dispatch_nmse);
    CHECK(errors.both_nmse > errors.combine_nmse);
    CHECK(errors.rerouted_choices >= before.rerouted_choices);
    before = errors;
  }
  CHECK(before.rerouted_choices > 0.0);
  CHECK(before.rerouted_tokens >= before.rerouted_choices);
}

// Independent errors of the results are weighted as the results are.
TEST_CASE("the error of a combine is that of its rows") {
  const ExchangeErrors errors =
      exchange_errors(small_layer(), tokens_of(256 * 64), {{}, integers(6)}, kNext);
  CHECK(errors.dispatched_nmse == 0.0);
  CHECK(errors.dispatch_nmse == 0.0);
  CHECK(errors.both_nmse == errors.combine_nmse);
  CHECK(errors.combine_nmse == Approx(errors.combined_nmse).epsilon(0.1));
}

TEST_CASE("sums agree with a slow reading of the layer") {
  const Layer layer = small_layer();
  std::vector<float> tokens = tokens_of(4 * 64);
  const ExchangeErrors errors = exchange_errors(layer, tokens, {integers(4), {}}, kNext);
  numerics::round_to_element(numerics::ElementFormat::bf16, tokens);
  std::vector<float> received =
      stored::decode(integers(4), stored::encode(integers(4), {.rows = 4, .columns = 64}, tokens));
  numerics::round_to_element(numerics::ElementFormat::bf16, received);
  double error = 0.0;
  double power = 0.0;
  for (std::size_t token = 0; token < 4; ++token) {
    const std::span<const float> exact = std::span(tokens).subspan(token * 64, 64);
    std::vector<double> sum(64);
    std::vector<double> encoded(64);
    for (const Choice& choice : choose_experts(layer.shape, layer.router, exact)) {
      std::vector<float> one = expert_output(layer, choice.expert, exact);
      std::vector<float> other =
          expert_output(layer, choice.expert, std::span(received).subspan(token * 64, 64));
      numerics::round_to_element(numerics::ElementFormat::bf16, one);
      numerics::round_to_element(numerics::ElementFormat::bf16, other);
      for (std::size_t i = 0; i < 64; ++i) {
        sum[i] += choice.weight * one[i];
        encoded[i] += choice.weight * other[i];
      }
    }
    for (std::size_t i = 0; i < 64; ++i) {
      error += (encoded[i] - sum[i]) * (encoded[i] - sum[i]);
      power += sum[i] * sum[i];
    }
  }
  CHECK(errors.dispatch_nmse == Approx(error / power).epsilon(1e-4));
}

TEST_CASE("threads do not change the errors") {
  const std::vector<float> tokens = tokens_of(16 * 64);
  const ExchangeErrors one = exchange_errors(small_layer(), tokens, {integers(4), {}}, kNext, 1);
  const ExchangeErrors two = exchange_errors(small_layer(), tokens, {integers(4), {}}, kNext, 2);
  CHECK(one.both_nmse == two.both_nmse);
  CHECK(one.rerouted_choices == two.rerouted_choices);
}

TEST_CASE("tokens of other widths or without finite values are refused") {
  std::vector<float> tokens = tokens_of(65);
  CHECK_THROWS_AS(exchange_errors(small_layer(), tokens, {}, kNext), std::invalid_argument);
  tokens.resize(64);
  tokens[3] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(exchange_errors(small_layer(), tokens, {}, kNext), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::experts::errors_test
