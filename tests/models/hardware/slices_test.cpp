#include "models/hardware/slices.hpp"

#include <algorithm>

#include "tests/catch.hpp"

namespace equarx::hardware::slices_test {
namespace {

using Lengths = SliceLengths;

/// The slices of TPU v5e, plus one 3-D slice.
Slices listed() {
  return {.list = {{1, 1}, {2, 2}, {2, 4}, {4, 4}, {8, 16}, {16, 16}, {2, 4, 8}},
          .cubes = std::nullopt,
          .wraparound = WraparoundRule::axis_length,
          .wraparound_length = 16,
          .source = {}};
}

/// The slices of TPU v5p.
Slices cubic() {
  return {.list = {{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}},
          .cubes = CubeRule{.edge = 4, .axes = 3, .most_chips = 6144},
          .wraparound = WraparoundRule::whole_cubes,
          .source = {}};
}

TEST_CASE("only listed slices are offered, in any order of their axes") {
  for (const Lengths& lengths : {Lengths{1, 1}, {2, 4}, {4, 2}, {16, 8}, {2, 4, 8}, {8, 2, 4}}) {
    CAPTURE(lengths);
    CHECK(offers(listed(), lengths));
  }
  for (const Lengths& lengths :
       {Lengths{}, {4}, {8}, {1}, {2, 8}, {2, 4, 1}, {4, 4, 4}, {32, 16}, {2, 4, 4}}) {
    CAPTURE(lengths);
    CHECK_FALSE(offers(listed(), lengths));
  }
}

TEST_CASE("slices are found by their number of chips") {
  CHECK(slices_of(listed(), 8) == std::vector<Lengths>{{2, 4}});
  CHECK(slices_of(listed(), 256) == std::vector<Lengths>{{16, 16}});
  CHECK(slices_of(listed(), 12).empty());
  CHECK(slices_of(cubic(), 4) == std::vector<Lengths>{{2, 2, 1}});
  CHECK(slices_of(cubic(), 64) == std::vector<Lengths>{{4, 4, 4}});
  CHECK(slices_of(cubic(), 128) == std::vector<Lengths>{{4, 4, 8}});
  CHECK(slices_of(cubic(), 256) == std::vector<Lengths>{{4, 4, 16}, {4, 8, 8}});
  CHECK(slices_of(cubic(), 6144 + 64).empty());
  for (const Lengths& slice : slices_of(cubic(), 6144)) CHECK(offers(cubic(), slice));
  CHECK(slices_of(cubic(), 0).empty());
}

TEST_CASE("whole cubes are offered in any order of their axes, up to the most chips") {
  for (const Lengths& lengths : {Lengths{4, 4, 4},
                                 {4, 4, 8},
                                 {8, 4, 4},
                                 {12, 12, 24},
                                 {16, 16, 24},
                                 {24, 16, 16},
                                 {4, 4, 384},
                                 {1, 2, 2},
                                 {2, 1, 2}}) {
    CAPTURE(lengths);
    CHECK(offers(cubic(), lengths));
  }
  for (const Lengths& lengths : {Lengths{4, 4},
                                 {4, 4, 4, 4},
                                 {4, 4, 5},
                                 {4, 4, 2, 1},
                                 {4, 8, 2},
                                 {0, 4, 4},
                                 {4, 4, 388},
                                 {16, 20, 20},
                                 {4294967292, 4294967292, 4294967292}}) {
    CAPTURE(lengths);
    CHECK_FALSE(offers(cubic(), lengths));
  }
}

TEST_CASE("without a list or rule no slices are offered") {
  CHECK_FALSE(offers(Slices{}, Lengths{1, 1}));
  CHECK_FALSE(offers(Slices{}, Lengths{}));
  CHECK(nearest_slices(Slices{}, Lengths{2, 2}, 3).empty());
}

TEST_CASE("axes wrap around by length, independently of each other") {
  CHECK(wraparound(listed(), Lengths{16, 16}) == std::vector<bool>{true, true});
  CHECK(wraparound(listed(), Lengths{8, 16}) == std::vector<bool>{false, true});
  CHECK(wraparound(listed(), Lengths{16, 8}) == std::vector<bool>{true, false});
  CHECK(wraparound(listed(), Lengths{4, 4}) == std::vector<bool>{false, false});
}

TEST_CASE("slices of whole cubes wrap around on every axis, smaller slices on none") {
  for (const Lengths& lengths : {Lengths{4, 4, 4}, {4, 8, 8}, {16, 16, 24}})
    CHECK(wraparound(cubic(), lengths) == std::vector<bool>(3, true));
  for (const Lengths& lengths : {Lengths{2, 2, 1}, {2, 2, 4}, {2, 4, 4}, {4, 4, 2}})
    CHECK(wraparound(cubic(), lengths) == std::vector<bool>(3, false));
}

TEST_CASE("the rule never wraps no axis around") {
  Slices slices = cubic();
  slices.wraparound = WraparoundRule::never;
  CHECK(wraparound(slices, Lengths{4, 4, 4}) == std::vector<bool>(3, false));
}

TEST_CASE("the nearest slices are available and sorted by distance") {
  CHECK(nearest_slices(listed(), Lengths{3, 4}, 2) == std::vector<Lengths>{{2, 4}, {4, 4}});
  CHECK(nearest_slices(listed(), Lengths{100, 90}, 1) == std::vector<Lengths>{{16, 16}});
  CHECK(nearest_slices(cubic(), Lengths{4, 4, 5}, 3) ==
        std::vector<Lengths>{{4, 4, 4}, {2, 4, 4}, {4, 4, 8}});
  CHECK(nearest_slices(cubic(), Lengths{7, 4, 4}, 1) == std::vector<Lengths>{{4, 4, 8}});
  CHECK(nearest_slices(cubic(), Lengths{8, 4, 7}, 1) == std::vector<Lengths>{{4, 8, 8}});
  CHECK(nearest_slices(cubic(), Lengths{9, 9, 9}, 1) == std::vector<Lengths>{{8, 8, 8}});
  CHECK(nearest_slices(cubic(), Lengths{100, 100, 100}, 1) == std::vector<Lengths>{{16, 16, 24}});
  CHECK(nearest_slices(cubic(), Lengths{4, 4}, 1) == std::vector<Lengths>{{2, 4, 4}});
  CHECK(nearest_slices(cubic(), Lengths{2, 2}, 1) == std::vector<Lengths>{{2, 2, 1}});
  for (const Lengths& lengths :
       {Lengths{5, 6, 7}, {1, 1, 1000}, {3, 3}, {7}, {2, 2, 2, 2}, {1, 5000, 1}, {16, 16, 25}}) {
    CAPTURE(lengths);
    const std::vector<Lengths> nearest = nearest_slices(cubic(), lengths, 3);
    CHECK(nearest.size() == 3);
    for (const Lengths& slice : nearest) CHECK(offers(cubic(), slice));
  }
}

TEST_CASE("the nearest slices fit a machine with a single cube") {
  Slices slices = cubic();
  slices.list.clear();
  slices.cubes->most_chips = 64;
  CHECK(nearest_slices(slices, Lengths{40, 4, 4}, 3) == std::vector<Lengths>{{4, 4, 4}});
}

TEST_CASE("each wraparound rule has its name") {
  CHECK(name(WraparoundRule::never) == "never");
  CHECK(name(WraparoundRule::axis_length) == "axis-length");
  CHECK(name(WraparoundRule::whole_cubes) == "whole-cubes");
}

}  // namespace
}  // namespace equarx::hardware::slices_test
