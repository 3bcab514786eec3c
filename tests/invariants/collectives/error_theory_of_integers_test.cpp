// Integer formats against error theory, on 2 to 64 ranks with independent normal values.
#include <cmath>
#include <string>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/error_theory.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::error_theory_of_integers_test {
namespace {

using namespace testing;
using collectives::RingStyle;
using numerics::BlockFormat;
using numerics::ElementFormat;

struct Format {
  std::string name;
  std::uint64_t elements_per_scale;
  double largest_code;  // 0: mxint8, with a power-of-two step
};

/// Error of quantizing a message of `ranks_in_message` summed ranks, relative to its power.
double quantizer_nmse(const Format& format, std::uint32_t ranks_in_message) {
  return format.largest_code > 0.0
             ? numerics::uniform_quantizer_nmse(format.elements_per_scale, format.largest_code)
             : testing::mxint8_quantizer_nmse(format.elements_per_scale,
                                              std::sqrt(ranks_in_message));
}

double theory(const Format& format, RingStyle style, std::uint32_t ranks) {
  const auto edges = style == RingStyle::full_loop ? numerics::full_loop_edges(ranks)
                                                   : numerics::semi_loop_edges(ranks);
  if (format.largest_code > 0.0)
    return numerics::compounded_allreduce_nmse(quantizer_nmse(format, 1), ranks, edges, true);
  const numerics::QuantizerNmse quantizer(
      [&](const numerics::Edge& edge) { return quantizer_nmse(format, edge.summed); },
      quantizer_nmse(format, ranks));
  return testing::allreduce_nmse(quantizer, ranks, edges, true);
}

BlockFormat block_format(const std::string& name) {
  for (const numerics::NamedFormat& named : numerics::named_formats())
    if (named.name == name) return named.format;
  throw std::invalid_argument(name);
}

double measured(const Format& format, RingStyle style, std::uint32_t ranks) {
  const BlockFormat wire = block_format(format.name);
  const std::uint32_t segments = collectives::ring_segments(style);
  // One minishard per segment, with the requested number of elements in each strided group.
  const std::uint64_t elements = std::uint64_t{ranks} * segments * format.elements_per_scale * 1024;
  const auto program = testing::make_ring_all_reduce(ranks, elements, ElementFormat::fp32,
                                                     {.style = style,
                                                      .reduce_scatter = wire,
                                                      .all_gather = wire,
                                                      .cut = {.minishards = 1, .microshards = 2}});
  const TensorSource source(numerics::InputSpec{.seed = 5}, elements, ElementFormat::fp32);
  return execute(program, source, {.sample = 1.0}).against_exact.nmse;
}

TEST_CASE("integer formats have the theoretical error, on up to 64 ranks") {
  // Few elements per strided scale with many ranks, to keep the tensors small.
  for (const std::uint32_t ranks : {2U, 3U, 8U, 16U, 64U})
    for (const RingStyle style : {RingStyle::full_loop, RingStyle::semi_loop})
      for (const Format& format :
           {Format{"int8", ranks > 16 ? 8U : 32U, 127.0},
            Format{"int6", ranks > 16 ? 8U : 32U, 31.0}, Format{"int4", ranks > 16 ? 8U : 32U, 7.0},
            Format{"mxint8", 32, 0.0}}) {
        if (ranks > 16 && format.largest_code == 0.0 && style == RingStyle::semi_loop) continue;
        CAPTURE(ranks, format.name, collectives::name(style));
        CHECK(measured(format, style, ranks) == Approx(theory(format, style, ranks)).epsilon(0.05));
      }
}

}  // namespace
}  // namespace equarx::values::error_theory_of_integers_test
