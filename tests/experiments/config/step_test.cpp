#include "experiments/config/step.hpp"

#include "experiments/config/topology.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/topologies.hpp"

namespace equarx::config::step_test {
namespace {

using collectives::Collective;
using topologies::node;
using topologies::slices;
using topologies::torus;

TEST_CASE("the default algorithm can run on the topology") {
  const auto name = [](Collective collective, const TopologyConfig& group) {
    return usual_algorithm(collective, group)->name;
  };
  CHECK(name(Collective::all_reduce, torus()) == "torus");
  CHECK(name(Collective::all_gather, torus()) == "torus");
  CHECK(name(Collective::all_to_all, torus()) == "direct");
  CHECK(name(Collective::all_reduce, node()) == "two-shot");
  CHECK(name(Collective::reduce_scatter, node()) == "direct");
  CHECK(name(Collective::all_gather, slices(torus())) == "hierarchical");
  CHECK(name(Collective::all_reduce, slices(node())) == "hierarchical-two-shot");
  CHECK(name(Collective::all_to_all, slices(node())) == "direct");
  CHECK(name(Collective::all_reduce,
             group_topology(slices(torus()), topologies::whole({3, 4, 2, 8}), {0})) == "two-shot");
}

}  // namespace
}  // namespace equarx::config::step_test
