#include "models/values/nonfinite_inputs.hpp"

#include <limits>
#include <span>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::values::nonfinite_inputs_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorSource source_of(const std::vector<std::vector<float>>& ranks,
                       numerics::ElementFormat format = numerics::ElementFormat::fp32) {
  std::vector<tensors::MemoryTensor> tensors;
  for (const std::vector<float>& rank : ranks)
    tensors.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(rank)));
  return {std::move(tensors), ranks.front().size(), format};
}

TEST_CASE("NaN and Inf are counted by rank") {
  std::vector<std::vector<float>> ranks(5, std::vector<float>(70'000, 1.0F));
  ranks[1][0] = -kInf;
  ranks[3][1] = kNan;
  ranks[3][65'536] = kInf;
  ranks[3][69'999] = -kNan;
  const std::vector<NonfiniteInput> found = nonfinite_inputs(source_of(ranks), 5);
  CHECK(found == std::vector<NonfiniteInput>{{1, 0, 1}, {3, 2, 1}});
  CHECK(texts_of(found) ==
        std::vector<std::string>{"input of rank 1 has 1 Inf", "input of rank 3 has 2 NaN, 1 Inf"});
}

TEST_CASE("values that overflow the tensor's type count as Inf") {
  const std::vector<std::vector<float>> ranks = {{1e5F, 1.0F}};
  CHECK(nonfinite_inputs(source_of(ranks), 1).empty());
  CHECK(nonfinite_inputs(source_of(ranks, numerics::ElementFormat::fp16), 1) ==
        std::vector<NonfiniteInput>{{0, 0, 1}});
}

TEST_CASE("of many ranks the first are named, and how many more there are") {
  std::vector<NonfiniteInput> many;
  for (std::uint32_t rank = 0; rank < 10; ++rank) many.push_back({rank, 1, 0});
  const std::vector<std::string> texts = texts_of(many);
  REQUIRE(texts.size() == 4);
  CHECK(texts[2] == "input of rank 2 has 1 NaN");
  CHECK(texts[3] == "inputs of 7 more ranks have NaN or Inf");
  CHECK(texts_of({}).empty());
}

}  // namespace
}  // namespace equarx::values::nonfinite_inputs_test
