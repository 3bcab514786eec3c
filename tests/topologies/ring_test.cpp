#include "topologies/ring.hpp"

#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/topologies/rings.hpp"
#include "tests/topologies/shapes.hpp"

namespace equarx::topology::ring_test {
namespace {

TEST_CASE("the ring is valid if one exists, and rejected if and only if none does") {
  std::uint32_t refused = 0;
  std::uint32_t found = 0;
  for (const GridShape& shape : all_small_shapes(7, 18)) {
    CAPTURE(describe(shape));
    const Topology topology = make_grid(shape);
    if (ring_exists(topology)) {
      CHECK(fault_of(hamiltonian_ring(shape), topology) == "");
      ++found;
    } else {
      CHECK_THROWS_AS(hamiltonian_ring(shape), std::invalid_argument);
      ++refused;
    }
  }
  CHECK(found > 100);
  CHECK(refused > 10);
}

TEST_CASE("a ring exists on every larger grid with an even side or a wraparound axis") {
  for (const GridShape& shape : all_small_shapes(7, 400)) {
    CAPTURE(describe(shape));
    const Topology topology = make_grid(shape);
    const std::uint32_t links_of_a_line = 2 * (topology.chip_count() - 1);
    const bool even_plane =
        topology.chip_count() % 2 == 0 && topology.link_count() > links_of_a_line;
    bool wrapped = topology.chip_count() <= 2;
    for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
      wrapped = wrapped || has_wraparound_links(shape, axis);
    }
    if (even_plane || wrapped) {
      CHECK(fault_of(hamiltonian_ring(shape), topology) == "");
    } else {
      CHECK_THROWS_AS(hamiltonian_ring(shape), std::invalid_argument);
    }
  }
}

TEST_CASE("slices of real machines have rings") {
  const std::vector<GridShape> shapes{
      mesh({2, 2}),         mesh({4, 2}),       mesh({2, 4}),
      mesh({4, 4}),         mesh({8, 16}),      {{8, 16}, {false, true}},
      torus({16, 16}),      torus({4, 4, 4}),   torus({16, 20, 28}),
      mesh({2, 2, 1}),      mesh({16, 16, 16}), torus({3, 3, 3, 3}),
      mesh({2, 2, 2, 2, 2})};
  for (const GridShape& shape : shapes) {
    CAPTURE(describe(shape));
    CHECK(fault_of(hamiltonian_ring(shape), make_grid(shape)) == "");
  }
}

TEST_CASE("one wraparound axis suffices for odd grids") {
  const std::vector<GridShape> shapes{{{3, 3}, {true, false}},
                                      {{3, 5}, {false, true}},
                                      {{9, 3}, {false, true}},
                                      {{3, 5, 7}, {false, true, false}},
                                      {{5, 3, 3}, {false, false, true}}};
  for (const GridShape& shape : shapes) {
    CAPTURE(describe(shape));
    CHECK(fault_of(hamiltonian_ring(shape), make_grid(shape)) == "");
  }
}

TEST_CASE("rings of small slices start at chip 0") {
  CHECK(hamiltonian_ring(mesh({1, 1})) == std::vector<ChipId>{0});
  CHECK(hamiltonian_ring(mesh({2, 1})) == std::vector<ChipId>{0, 1});
  CHECK(hamiltonian_ring(torus({1, 5})) == std::vector<ChipId>{0, 1, 2, 3, 4});
  CHECK(hamiltonian_ring(mesh({2, 2})) == std::vector<ChipId>{0, 2, 3, 1});
  for (const GridShape& shape : {mesh({4, 2}), torus({5, 5}), mesh({3, 4, 5})}) {
    CHECK(hamiltonian_ring(shape).front() == 0);
  }
}

TEST_CASE("a missing ring is reported with its reason and a remedy") {
  REQUIRE_THROWS_WITH(hamiltonian_ring(mesh({3, 3})),
                      "no Hamiltonian ring exists on the 3x3 mesh: it has an odd number of chips "
                      "and no wraparound; use a slice with an even side, or a torus");
  REQUIRE_THROWS_WITH(hamiltonian_ring(mesh({4})),
                      ContainsSubstring("the 4 mesh: it is a line without wraparound"));
  REQUIRE_THROWS_WITH(hamiltonian_ring(mesh({1, 3})),
                      ContainsSubstring("the 1x3 mesh: it is a line") &&
                          ContainsSubstring("two sides of 2 or more"));
  REQUIRE_THROWS_WITH(hamiltonian_ring({{1, 3, 3}, {true, false, false}}),
                      ContainsSubstring("odd number of chips"));
  REQUIRE_THROWS_AS(hamiltonian_ring({{4, 0}, {true, true}}), std::invalid_argument);
  REQUIRE_THROWS_AS(hamiltonian_ring({{4, 4}, {true}}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::topology::ring_test
