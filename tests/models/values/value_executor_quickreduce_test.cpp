// QuickReduce as a whole: results compared with an oracle written from its source code.
#include <algorithm>
#include <random>

#include "models/collectives/quickreduce_program.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/reference_quickreduce.hpp"

namespace equarx::values::value_executor_quickreduce_test {
namespace {

using numerics::ElementFormat;

struct Case {
  std::string_view format;
  testing::quickreduce::Levels levels;
};
constexpr Case kCases[] = {{"quickreduce-int8", 128},
                           {"quickreduce-int6", 32},
                           {"quickreduce-int4", 8},
                           {"quickreduce-fp8", 0}};

using Halves = std::vector<std::vector<std::uint16_t>>;

/// FP16 values by rank, with a spread that changes along the tensor, and some zeros and extremes.
Halves inputs(std::uint32_t ranks, std::size_t elements) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Halves tensors(ranks, std::vector<std::uint16_t>(elements));
  for (auto& tensor : tensors)
    for (std::size_t i = 0; i < elements; ++i) {
      const float spread = std::ldexp(1.0F, static_cast<int>(i / 64 % 20) - 12);
      tensor[i] = numerics::fp16_from_float(i % 97 == 0 ? 0.0F : spread * normal(random));
    }
  return tensors;
}

std::vector<float> computed(const Halves& tensors, std::string_view format,
                            std::uint32_t minishards) {
  const std::size_t elements = tensors.front().size();
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp16, std::as_bytes(std::span(tensor)));
  const TensorSource source(std::move(memory), elements, ElementFormat::fp16);
  const numerics::BlockFormat wire =
      std::ranges::find(numerics::named_formats(), format, &numerics::NamedFormat::name)->format;
  const collectives::Program program = collectives::make_quickreduce(
      static_cast<std::uint32_t>(tensors.size()), elements, ElementFormat::fp16,
      {wire, wire, {.minishards = minishards, .microshards = 2}});
  std::vector<std::uint16_t> stored(elements);
  ResultTensor result(ElementFormat::fp16, std::as_writable_bytes(std::span(stored)));
  const ValueResult values = execute(program, source, {.threads = 1, .result = &result});
  CHECK(values.ranks_identical);
  CHECK(values.sent_bytes == values.received_bytes);
  std::vector<float> all;
  for (const std::uint16_t bits : stored) all.push_back(numerics::float_from_fp16(bits));
  return all;
}

TEST_CASE("QuickReduce ends with the oracle's bits, for any number of ranks and parts") {
  for (const Case& one : kCases)
    for (const std::uint32_t ranks : {2U, 4U, 8U})
      for (const std::uint32_t minishards : {1U, 2U, 4U}) {
        CAPTURE(one.format, ranks, minishards);
        const Halves tensors = inputs(ranks, 1024U * 8 * ranks);
        const std::vector<float> got = computed(tensors, one.format, minishards);
        std::vector<std::vector<double>> exact;
        for (const auto& tensor : tensors) {
          auto& values = exact.emplace_back();
          for (const std::uint16_t bits : tensor) values.push_back(numerics::float_from_fp16(bits));
        }
        const std::vector<double> expected = testing::quickreduce::all_reduced(one.levels, exact);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
          if (double{got[i]} != expected[i] || std::signbit(got[i]) != std::signbit(expected[i]))
            ++wrong;
        CHECK(wrong == 0);
      }
}

TEST_CASE("QuickReduce adds plain FP16 in the order of ranks, rounded at every term") {
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    const Halves tensors = inputs(ranks, 5000);
    const std::vector<float> got = computed(tensors, "fp16", 1);
    for (std::size_t i = 0; i < got.size(); ++i) {
      double sum = 0.0;
      for (const auto& tensor : tensors)
        sum = testing::quickreduce::half(sum + double{numerics::float_from_fp16(tensor[i])});
      REQUIRE(double{got[i]} == sum);
    }
  }
}

}  // namespace
}  // namespace equarx::values::value_executor_quickreduce_test
