#include "models/values/result_tensor.hpp"

#include <stdexcept>

#include "models/values/tensor_source.hpp"
#include "tests/catch.hpp"

namespace equarx::values::result_tensor_test {
namespace {

using collectives::Range;

TEST_CASE("a result tracks its written parts, in any order of writes") {
  ResultTensor tensor(100, numerics::ElementFormat::fp32);
  const std::vector<float> ten(10, 1.0F);
  CHECK(tensor.written({0, 100}).empty());
  tensor.write(30, ten);
  tensor.write(10, ten);
  CHECK(tensor.written({0, 100}) == std::vector<Range>{{10, 20}, {30, 40}});
  CHECK(tensor.written({15, 35}) == std::vector<Range>{{15, 20}, {30, 35}});
  CHECK(tensor.written({20, 30}).empty());
  tensor.write(20, ten);
  CHECK(tensor.written({0, 100}) == std::vector<Range>{{10, 40}});
  CHECK(tensor.written({12, 13}) == std::vector<Range>{{12, 13}});
  CHECK(tensor.written({40, 100}).empty());
}

TEST_CASE("a result keeps values of its type and rounds others") {
  const std::vector<float> values = {0.0F, -1.0F, 1.5F, -448.0F, 0.3F};
  for (const numerics::ElementFormat format : numerics::kTensorFormats) {
    CAPTURE(numerics::name(format));
    ResultTensor tensor(9, format);
    tensor.write(3, values);
    std::vector<float> kept(2);
    tensor.read(6, kept);
    std::vector<float> rounded = {-448.0F, 0.3F};
    round_to_tensor(format, rounded);
    CHECK(kept == rounded);
  }
  CHECK_THROWS_AS(ResultTensor(9, numerics::ElementFormat::int4), std::invalid_argument);
}

TEST_CASE("a result can use the caller's memory") {
  std::vector<float> memory(4, 7.0F);
  ResultTensor tensor(numerics::ElementFormat::fp32, std::as_writable_bytes(std::span(memory)));
  CHECK(tensor.elements() == 4);
  tensor.write(1, std::vector<float>{1.0F, 2.0F});
  CHECK(memory == std::vector<float>{7.0F, 1.0F, 2.0F, 7.0F});
  CHECK(tensor.written({0, 4}) == std::vector<Range>{{1, 3}});
}

}  // namespace
}  // namespace equarx::values::result_tensor_test
