#include "experiments/config/mesh_json.hpp"

#include <string>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/topologies.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::mesh_json_test {
namespace {

using input::Json;
using testing::check_refused;

TopologyConfig mesh_of(const std::vector<std::uint32_t>& lengths) {
  TopologyConfig topology;
  topology.kind = TopologyKind::mesh;
  topology.shape = {lengths, std::vector<bool>(lengths.size(), false)};
  return topology;
}

TEST_CASE("a written mesh is read as it was, with parts, on every kind of machine") {
  for (const auto& [topology, text] :
       {std::pair{mesh_of({4, 4}), R"({"fsdp": 8, "tensor": 2})"},
        {mesh_of({4, 4}), R"({"fsdp": 4, "tensor": 4})"},
        {mesh_of({4, 4}), R"({"order": "machine", "fsdp": 2, "tensor": 8})"},
        {mesh_of({2, 2}), R"({"order": [3, 2, 0, 1], "a": 4})"},
        {mesh_of({2, 2}), R"({"order": 4})"},
        {topologies::slices(topologies::node()), R"({"data": 12, "tensor": 2})"},
        {topologies::slices(topologies::node()), R"({"data": 3, "a": 2, "b": 4})"},
        {topologies::slices(topologies::node()), R"({"order": "machine", "a": 8, "b": 3})"},
        {topologies::slices(topologies::torus()), R"({"data": 6, "fsdp": 16, "tensor": 2})"}}) {
    CAPTURE(text);
    const steps::Mesh mesh = read_mesh(Json::parse(text), topology);
    const steps::Mesh again = read_mesh(mesh_json(mesh), topology);
    CHECK(again.axes == mesh.axes);
    CHECK(again.machine == mesh.machine);
    CHECK(again.order == mesh.order);
    for (std::uint32_t position = 0; position < mesh.chips(); ++position)
      CHECK(again.chip(position) == mesh.chip(position));
  }
}

TEST_CASE("parts of machine axes and the order of the chips are checked") {
  const auto refused = [](const char* text, const std::string& pointer, const std::string& why) {
    check_refused([&] { read_mesh(Json::parse(text), mesh_of({4, 4})); }, pointer, why);
  };
  refused(R"({"a": {"length": 8, "axes": [0, [1, 2]]}, "b": 2})", "/mesh", "'b' has no \"axes\"");
  refused(R"({"a": {"length": 8, "axes": [0, [1, 2, 3]]}, "b": 2})", "/mesh/a/axes/1",
          "[axis, length]");
  refused(R"({"a": {"length": 8, "axes": [0, [2, 2]]}, "b": 2})", "/mesh/a/axes/1/0", "1");
  refused(R"({"a": {"length": 8, "axes": [0, [1, 2]]}, "b": {"length": 2, "axes": [[1, 4]]}})",
          "/mesh", "multiply to 8");
  refused(R"({"order": "megatron", "a": 16})", "/mesh/order", "jax");
  refused(R"({"order": [0, 1], "a": 16})", "/mesh", "the order has 2 chips");
  refused(R"({"order": [0, 99], "a": 16})", "/mesh/order/1", "15");
  refused(R"({"order": "jax"})", "/mesh", "is empty");
}

}  // namespace
}  // namespace equarx::config::mesh_json_test
