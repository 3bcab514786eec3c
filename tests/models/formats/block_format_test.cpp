#include "models/formats/block_format.hpp"

#include "tests/catch.hpp"

namespace equarx::block_format_test {

using namespace equarx::numerics;

namespace {

BlockFormat int8_format(ScaleLayout layout, std::size_t block = 0) {
  return {ElementFormat::int8, true, ScaleFormat::fp32, layout, block};
}

}  // namespace

TEST_CASE("sizes of elements and scales") {
  REQUIRE(element_bits(ElementFormat::fp32) == 32);
  REQUIRE(element_bits(ElementFormat::bf16) == 16);
  REQUIRE(element_bits(ElementFormat::int8) == 8);
  REQUIRE(element_bits(ElementFormat::fp8_e4m3) == 8);
  REQUIRE(element_bits(ElementFormat::fp8_e5m2) == 8);
  REQUIRE(element_bits(ElementFormat::fp8_e4m3fnuz) == 8);
  REQUIRE(element_bits(ElementFormat::fp8_e5m2fnuz) == 8);
  REQUIRE(element_bits(ElementFormat::int6) == 6);
  REQUIRE(scale_bytes(ScaleFormat::fp32) == 4);
  REQUIRE(scale_bytes(ScaleFormat::bf16) == 2);
  REQUIRE(payload_bytes({}, 3) == 6);
  REQUIRE(payload_bytes(int8_format(ScaleLayout::strided), 1025) == 1025);
}

TEST_CASE("strided scales: one per lane, at most one per element") {
  const BlockFormat format = int8_format(ScaleLayout::strided);
  REQUIRE(scale_count(format, 0) == 0);
  REQUIRE(scale_count(format, 1) == 1);
  REQUIRE(scale_count(format, 1023) == 1023);
  REQUIRE(scale_count(format, 1024) == 1024);
  REQUIRE(scale_count(format, 1U << 20) == 1024);
}

TEST_CASE("contiguous scales: the last block may be short") {
  const BlockFormat format = int8_format(ScaleLayout::contiguous, 32);
  REQUIRE(scale_count(format, 0) == 0);
  REQUIRE(scale_count(format, 1) == 1);
  REQUIRE(scale_count(format, 32) == 1);
  REQUIRE(scale_count(format, 33) == 2);
}

TEST_CASE("a format without scales has none, regardless of its other fields") {
  REQUIRE(scale_count({}, 4096) == 0);
  REQUIRE(scale_count({.layout = ScaleLayout::contiguous}, 4096) == 0);
}

TEST_CASE("contiguous blocks of 0 elements are rejected") {
  REQUIRE_THROWS_WITH(scale_count(int8_format(ScaleLayout::contiguous), 4),
                      ContainsSubstring("block is 0"));
}

TEST_CASE("names of formats") {
  REQUIRE(name(ElementFormat::fp32) == "fp32");
  REQUIRE(name(ElementFormat::bf16) == "bf16");
  REQUIRE(name(ElementFormat::int8) == "int8");
  REQUIRE(name(ElementFormat::fp8_e4m3) == "fp8-e4m3");
  REQUIRE(name(ElementFormat::fp8_e5m2) == "fp8-e5m2");
  REQUIRE(name(ElementFormat::fp8_e4m3fnuz) == "fp8-e4m3fnuz");
  REQUIRE(name(ElementFormat::fp8_e5m2fnuz) == "fp8-e5m2fnuz");
  REQUIRE(name(ElementFormat::int6) == "int6");
  REQUIRE(name(ScaleFormat::fp32) == "fp32");
  REQUIRE(name(ScaleFormat::bf16) == "bf16");
  REQUIRE(name(ScaleRounding::floor) == "floor");
  REQUIRE(name(ScaleRounding::up) == "up");
  REQUIRE(name(ScaleRounding::even) == "even");
  REQUIRE(name(ScaleLayout::strided) == "strided");
  REQUIRE(name(ScaleLayout::contiguous) == "contiguous");
}

TEST_CASE("packed elements fill whole bytes") {
  REQUIRE(payload_bytes({.element = ElementFormat::int4}, 3) == 2);
  REQUIRE(payload_bytes({.element = ElementFormat::int6}, 5) == 4);
  REQUIRE(payload_bytes({.element = ElementFormat::fp4_e2m1}, 32) == 16);
  REQUIRE(payload_bytes({.element = ElementFormat::fp6_e2m3}, 32) == 24);
  REQUIRE(payload_bytes({.element = ElementFormat::fp6_e3m2}, 1) == 1);
  REQUIRE(payload_bytes({.element = ElementFormat::fp6_e3m2}, 3) == 3);
  REQUIRE(payload_bytes({.element = ElementFormat::mxint8}, 5) == 5);
  REQUIRE(scale_bytes(ScaleFormat::e8m0) == 1);
  REQUIRE(scale_bytes(ScaleFormat::e4m3) == 1);
}

TEST_CASE("named formats") {
  const auto find = [](std::string_view wanted) {
    for (const NamedFormat& format : named_formats())
      if (format.name == wanted) return format.format;
    FAIL("no format " << wanted);
    return BlockFormat{};
  };
  REQUIRE(named_formats().size() == 30);
  REQUIRE(find("fp16") == BlockFormat{.element = ElementFormat::fp16});
  REQUIRE(find("int8") == BlockFormat{.element = ElementFormat::int8, .scaled = true});
  for (const ElementFormat element :
       {ElementFormat::int6, ElementFormat::int4, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2,
        ElementFormat::fp8_e4m3fnuz, ElementFormat::fp8_e5m2fnuz})
    REQUIRE(find(name(element)) == BlockFormat{.element = element, .scaled = true});
  REQUIRE(find("mxfp4") == BlockFormat{ElementFormat::fp4_e2m1, true, ScaleFormat::e8m0,
                                       ScaleLayout::contiguous, 32});
  BlockFormat nvfp4{ElementFormat::fp4_e2m1, true, ScaleFormat::e4m3, ScaleLayout::contiguous, 16};
  REQUIRE(find("nvfp4-block") == nvfp4);
  nvfp4.tensor_scale = true;
  REQUIRE(find("nvfp4") == nvfp4);
  REQUIRE(find("mxint8").element == ElementFormat::mxint8);
  BlockFormat quickreduce{ElementFormat::int6, true, ScaleFormat::fp16, ScaleLayout::paired, 32};
  quickreduce.rule = ScaleRule::quickreduce;
  REQUIRE(find("quickreduce-int6") == quickreduce);
  quickreduce.element = ElementFormat::fp8_e4m3fnuz;
  REQUIRE(find("quickreduce-fp8") == quickreduce);
  BlockFormat reciprocal{ElementFormat::int4, true, ScaleFormat::fp32, ScaleLayout::contiguous,
                         2048};
  reciprocal.rule = ScaleRule::zeropp;
  REQUIRE(find("zeropp-int4") == reciprocal);
  reciprocal.element = ElementFormat::int8;
  REQUIRE(find("zeropp-int8") == reciprocal);
  reciprocal.block = 128;
  reciprocal.rounding = Rounding::stochastic;
  reciprocal.rule = ScaleRule::sdp4bit;
  REQUIRE(find("sdp4bit-int8") == reciprocal);
  reciprocal.element = ElementFormat::int4;
  REQUIRE(find("sdp4bit-int4") == reciprocal);
  REQUIRE(find("fp8lm-e5m2") ==
          BlockFormat{.element = ElementFormat::fp8_e5m2, .rule = ScaleRule::fp8lm});
  REQUIRE(find("global-qsgd-int8") ==
          BlockFormat{.element = ElementFormat::int8, .rule = ScaleRule::global_qsgd});
  REQUIRE(find("global-qsgd-exp8") ==
          BlockFormat{.element = ElementFormat::exp8, .rule = ScaleRule::global_qsgd});
}

TEST_CASE("formats with a shared scale send no scales, and int8 bounds the number of ranks") {
  for (const NamedFormat& named : named_formats()) {
    CAPTURE(named.name);
    const bool shared = named.name.starts_with("fp8lm") || named.name.starts_with("global-qsgd");
    CHECK(has_shared_scale(named.format) == shared);
    CHECK((most_ranks(named.format) == 127) == (named.name == "global-qsgd-int8"));
    CHECK(adds_by_code(named.format) == (named.name == "global-qsgd-exp8"));
    if (shared) CHECK(scale_count(named.format, 4096) == 0);
  }
}

TEST_CASE("paired scales: even and odd elements of each pair of blocks have a scale each") {
  BlockFormat format{ElementFormat::int8, true, ScaleFormat::fp16, ScaleLayout::paired, 32};
  REQUIRE(scale_count(format, 64) == 2);
  REQUIRE(scale_count(format, 128) == 4);
  REQUIRE(scale_count(format, 65) == 3);
  REQUIRE(scale_count(format, 127) == 4);
  REQUIRE(scale_count(format, 0) == 0);
}

TEST_CASE("scale bytes include the tensor scale, if any") {
  BlockFormat format{ElementFormat::fp4_e2m1, true, ScaleFormat::e4m3, ScaleLayout::contiguous, 16};
  REQUIRE(scales_bytes(format, 256) == 256);
  REQUIRE(scales_bytes(int8_format(ScaleLayout::strided), 256) == 1024);
  format.tensor_scale = true;
  REQUIRE(scales_bytes(format, 256) == 256 + 4);
  REQUIRE(scales_bytes({}, 0) == 0);
}

TEST_CASE("formats have the same groups if they have scales for the same elements") {
  const BlockFormat strided = int8_format(ScaleLayout::strided);
  BlockFormat other = int8_format(ScaleLayout::strided, 128);  // block is ignored in this layout
  other.element = ElementFormat::fp8_e4m3;
  other.scale = ScaleFormat::bf16;
  REQUIRE(same_groups(strided, other));
  const BlockFormat blocks = int8_format(ScaleLayout::contiguous, 32);
  REQUIRE(same_groups(blocks, blocks));
  REQUIRE_FALSE(same_groups(blocks, int8_format(ScaleLayout::contiguous, 64)));
  REQUIRE_FALSE(same_groups(blocks, int8_format(ScaleLayout::strided, 32)));
  REQUIRE_FALSE(same_groups(blocks, {}));
  REQUIRE_FALSE(same_groups({}, {}));
}

TEST_CASE("stochastic rounding, SDP4Bit and Global-QSGD need random bits") {
  for (const NamedFormat& named : named_formats())
    CHECK(rounds_randomly(named.format) ==
          (named.name.starts_with("sdp4bit") || named.name.starts_with("global-qsgd")));
  BlockFormat stochastic = int8_format(ScaleLayout::strided);
  stochastic.rounding = Rounding::stochastic;
  CHECK(rounds_randomly(stochastic));
}

}  // namespace equarx::block_format_test
