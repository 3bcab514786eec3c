#include "models/hardware/chip.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "tests/catch.hpp"

namespace equarx::hardware {
namespace {

TEST_CASE("the table of parameters names every member of Chip once") {
  // Whoever adds a parameter to Chip adds it to the table, and here.
  const std::array members = {
      &Chip::link_bandwidth, &Chip::link_efficiency, &Chip::hop_latency,
      &Chip::hbm_capacity,   &Chip::hbm_bandwidth,   &Chip::vmem_capacity,
      &Chip::vmem_bandwidth, &Chip::vector_rate,     &Chip::instruction_overhead,
      &Chip::dma_overhead,   &Chip::wait_overhead,   &Chip::barrier_time,
      &Chip::step_sync_time, &Chip::dma_queue};
  REQUIRE(parameters().size() == members.size());
  for (const auto member : members)
    CHECK(std::ranges::count(parameters(), member, &ParameterInfo::member) == 1);
}

TEST_CASE("nothing of Chip but names, slices and the wraparound rule is outside of the table") {
  constexpr std::size_t kTexts = 2 * sizeof(std::string);
  constexpr std::size_t kRest = sizeof(Chip::slices) + sizeof(std::uint64_t);  // padded
  CHECK(sizeof(Chip) == kTexts + parameters().size() * sizeof(Parameter) + kRest);
}

TEST_CASE("parameter keys are unique, lower case, and described") {
  std::set<std::string_view> keys;
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    CHECK(keys.insert(info.key).second);
    CHECK(info.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK_FALSE(info.description.empty());
  }
}

TEST_CASE("only times may be zero: a rate or a capacity of zero divides by zero") {
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    CHECK(info.may_be_zero ==
          (info.kind == ParameterKind::quantity && info.dimension == units::Dimension::time));
  }
}

TEST_CASE("values are written with the unit of their parameter, plain numbers without") {
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    const std::string text = format_value(info, {.value = 0.5, .source = {}});
    if (info.kind != ParameterKind::quantity)
      CHECK(text == "0.5");
    else
      CHECK(units::parse(text, info.dimension) == 0.5);
  }
}

TEST_CASE("each provenance has its name") {
  CHECK(name(Provenance::datasheet) == "datasheet");
  CHECK(name(Provenance::measured) == "measured");
  CHECK(name(Provenance::calibrated) == "calibrated");
  CHECK(name(Provenance::assumed) == "assumed");
}

TEST_CASE("payload gets its share of the link") {
  Chip chip;
  chip.link_bandwidth.value = 45e9;
  chip.link_efficiency.value = 0.5;
  CHECK(chip.link_rate() == 22.5e9);
}

using Lengths = std::vector<std::uint32_t>;

TEST_CASE("slices are offered in either order of their axes, and no others") {
  Chip chip;
  chip.slices = {{2, 4}, {4, 4}, {2, 4, 8}};
  CHECK(offers_slice(chip, Lengths{2, 4}));
  CHECK(offers_slice(chip, Lengths{4, 2}));
  CHECK(offers_slice(chip, Lengths{4, 4}));
  for (const Lengths& lengths :
       {Lengths{2, 4, 8}, {2, 8, 4}, {4, 2, 8}, {4, 8, 2}, {8, 2, 4}, {8, 4, 2}})
    CHECK(offers_slice(chip, lengths));
  for (const Lengths& lengths : {Lengths{}, {4}, {8}, {2, 2}, {2, 8}, {2, 4, 1}, {4, 4, 4}}) {
    CAPTURE(lengths);
    CHECK_FALSE(offers_slice(chip, lengths));
  }
}

TEST_CASE("a chip without slices offers none") { CHECK_FALSE(offers_slice(Chip{}, Lengths{1, 1})); }

}  // namespace
}  // namespace equarx::hardware
