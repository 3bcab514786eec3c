#include "models/checkpoints/layout.hpp"

#include "tests/catch.hpp"
#include "tests/models/checkpoints/formats.hpp"

namespace equarx::checkpoints::layout_test {
namespace {

using testing::format_for;
using testing::ScaleFormat;

void check_refused(Layout layout, const stored::StoredFormat& format, const stored::Shape& shape,
                   const std::string& remedy) {
  CHECK_THROWS_WITH(check_layout(layout, format, shape), ContainsSubstring(remedy));
}

TEST_CASE("layouts: names") {
  for (std::size_t i = 0; i < kLayoutNames.size(); ++i) {
    CHECK(layout_named(kLayoutNames[i]) == static_cast<Layout>(i));
    CHECK(name(static_cast<Layout>(i)) == kLayoutNames[i]);
  }
  CHECK(!layout_named("marlin"));
}

TEST_CASE("layouts: formats that do not fit are refused") {
  const stored::Shape shape{32, 64};
  const auto changed = [](Layout layout, auto change) {
    stored::StoredFormat format = format_for(layout, false);
    change(format);
    return format;
  };
  const auto gptq = [&](auto change) { return changed(Layout::gptq, change); };
  check_refused(Layout::gptq, gptq([](auto& f) { f.groups.along = stored::Along::tensor; }), shape,
                "set groups.along");
  check_refused(Layout::gptq, gptq([](auto& f) { f.apart.largest = 0.1; }), shape, "remove apart");
  check_refused(Layout::gptq, gptq([](auto& f) { f.before.hadamard = 8; }), shape, "remove before");
  check_refused(Layout::gptq, gptq([](auto& f) { f.scale.zero_point = stored::ZeroPoint::real; }),
                shape, "\"rounded\"");
  check_refused(Layout::gptq, gptq([](auto& f) { f.elements.bits = 5; }), shape, "2, 3, 4, 8 bits");
  check_refused(Layout::gptq, gptq([](auto& f) { f.scale.type = ScaleFormat::fp32; }), shape,
                "fp16, bf16");
  check_refused(Layout::gptq, gptq([](auto&) {}), {32, 48}, "multiple of 32 columns");
  check_refused(Layout::gptq, gptq([](auto&) {}), {8, 64}, "multiple of 32 rows");
  check_refused(Layout::awq, gptq([](auto& f) { f.elements.bits = 8; }), shape, "4 bits");
  check_refused(Layout::awq, gptq([](auto&) {}), {7, 64}, "multiple of 8 rows");
  check_refused(Layout::nvfp4_pack_quantized, format_for(Layout::modelopt_nvfp4, true), shape,
                "use modelopt-nvfp4");
  check_refused(Layout::int_quantized, gptq([](auto&) {}), shape, "8 bits");
  check_refused(Layout::float_quantized, gptq([](auto&) {}), shape, "e4m3");
  check_refused(Layout::modelopt_nvfp4,
                changed(Layout::modelopt_nvfp4, [](auto& f) { f.groups.length = 32; }), shape,
                "groups of 16, not 32");
  check_refused(Layout::modelopt_nvfp4,
                changed(Layout::modelopt_nvfp4, [](auto& f) { f.scale.of_tensor = false; }), shape,
                "scale of the tensor");
}

}  // namespace
}  // namespace equarx::checkpoints::layout_test
