#include "models/values/tensor_types.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::values::tensor_types_test {
namespace {

TEST_CASE("every tensor type is stored in as many bytes as its format has") {
  for (const numerics::ElementFormat format : numerics::kTensorFormats) {
    CAPTURE(numerics::name(format));
    const tensors::FileType type = file_type(format);
    CHECK(element_format(type) == format);
    CHECK(8 * tensors::element_bytes(type) == numerics::element_bits(format));
  }
  CHECK_THROWS_AS(file_type(numerics::ElementFormat::int4), std::logic_error);
}

}  // namespace
}  // namespace equarx::values::tensor_types_test
