#include "importers/chakra/merged_nodes.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::chakra::merged_nodes_test {
namespace {

Node compute(std::uint64_t id, double operations, std::vector<std::uint64_t> after = {}) {
  Node node{.id = id, .name = "work", .kind = NodeKind::compute, .after = std::move(after)};
  node.operations = operations;
  return node;
}

Node message(NodeKind kind, std::uint64_t id, std::uint32_t peer,
             std::vector<std::uint64_t> after = {}) {
  Node node{.id = id, .name = "message", .kind = kind, .after = std::move(after)};
  node.bytes = 64.0;
  (kind == NodeKind::send ? node.destination : node.source) = peer;
  return node;
}

Node send(std::uint64_t id, std::uint32_t to, std::vector<std::uint64_t> after = {}) {
  return message(NodeKind::send, id, to, std::move(after));
}
Node receive(std::uint64_t id, std::uint32_t from, std::vector<std::uint64_t> after = {}) {
  return message(NodeKind::receive, id, from, std::move(after));
}

Node sum(std::uint64_t id, const std::string& group, std::vector<std::uint64_t> after = {}) {
  Node node{.id = id, .name = "sum", .kind = NodeKind::collective, .after = std::move(after)};
  node.bytes = 64.0;
  node.group = group;
  return node;
}

Traces traces(std::vector<std::vector<Node>> chips, Groups groups = {}) {
  Traces made{.chips = {}, .devices = static_cast<std::uint32_t>(chips.size()), .groups = {}};
  for (std::vector<Node>& nodes : chips)
    made.chips.push_back({.version = "", .nodes = std::move(nodes)});
  made.groups = std::move(groups);
  return made;
}

TEST_CASE("nodes are matched by what they do, not by their ids") {
  const auto merged = merged_nodes(
      traces({{compute(0, 1.0), compute(1, 2.0, {0})}, {compute(9, 2.0, {29}), compute(29, 1.0)}}),
      false);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].members == std::vector<Member>{{0, 0, 0}, {1, 1, 0}});
  CHECK(merged[1].members == std::vector<Member>{{0, 1, 0}, {1, 0, 0}});
  CHECK(merged[1].after == std::vector<std::size_t>{0});
}

TEST_CASE("chips that do something else have nodes of their own") {
  const auto merged = merged_nodes(traces({{compute(0, 1.0)}, {compute(0, 2.0)}}), false);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].members.size() == 1);
  Node slow = compute(0, 1.0);
  slow.duration_s = 1.0;
  CHECK(merged_nodes(traces({{compute(0, 1.0)}, {slow}}), false).size() == 1);
  CHECK(merged_nodes(traces({{compute(0, 1.0)}, {slow}}), true).size() == 2);
}

TEST_CASE("the stages of a pipeline are distinct, the chips of a ring are not") {
  const auto stages = merged_nodes(traces({{compute(0, 1.0), send(1, 1, {0})},
                                           {receive(0, 0), compute(1, 1.0, {0}), send(2, 2, {1})},
                                           {receive(0, 1), compute(1, 1.0, {0})}}),
                                   false);
  CHECK(stages.size() == 7);
  CHECK(stages[2].send == 1);
  // Each chip receives only after it has sent, as in a ring.
  const auto ring = merged_nodes(traces({{send(0, 1), receive(1, 2, {0})},
                                         {send(0, 2), receive(1, 0, {0})},
                                         {send(0, 0), receive(1, 1, {0})}}),
                                 false);
  REQUIRE(ring.size() == 2);
  CHECK(ring[0].members == std::vector<Member>{{0, 0, 1}, {1, 0, 2}, {2, 0, 0}});
  CHECK(ring[1].send == 0);
  // A chip that receives twice does so from two sends.
  CHECK(merged_nodes(traces({{receive(0, 1), receive(1, 2)}, {send(0, 0)}, {send(0, 0)}}), false)
            .size() == 4);
}

TEST_CASE("collectives of a group are matched in order, and cover its chips only") {
  const auto merged = merged_nodes(
      traces({{sum(0, "1")}, {sum(3, "1")}, {compute(0, 1.0)}}, {{"1", {1, 0}}}), false);
  REQUIRE(merged.size() == 2);
  const std::size_t at = merged[0].groups.empty() ? 1 : 0;
  CHECK(merged[at].groups == std::vector<std::vector<std::uint32_t>>{{0, 1}});
  CHECK(merged[at].members.size() == 2);
  CHECK_THAT(merged_nodes(traces({{sum(0, "7")}}), false).at(0).obstacle,
             ContainsSubstring("group '7' is not defined"));
}

TEST_CASE("traces that do not fit together are refused with chip and node") {
  const auto refused = [](const Traces& what, const std::string& part) {
    CHECK_THROWS_WITH(merged_nodes(what, false), ContainsSubstring(part));
    CHECK_THROWS_AS(merged_nodes(what, false), std::invalid_argument);
  };
  refused(
      traces({{send(4, 1)}, {compute(0, 1.0)}}),
      "chip 0, node 4 ('message') is a send to chip 1 with tag 0 that this chip does not receive");
  refused(traces({{compute(0, 1.0)}, {receive(5, 0)}}),
          "chip 1, node 5 ('message') is a receive from chip 0 with tag 0 that this chip does not "
          "send");
  refused(traces({{send(0, 7)}, {compute(0, 1.0)}}),
          "sends to chip 7, but chips are numbered 0 to 1");
  refused(traces({{receive(0, 0)}, {compute(0, 1.0)}}), "receives from its own chip");
  refused(traces({{receive(0, 1), send(1, 1, {0})}, {receive(0, 0), send(1, 0, {0})}}),
          "waits for itself, through messages");
  refused(traces({{sum(0, "")}, {compute(0, 1.0)}}),
          "a collective that chip 1 of its group does not");
  Node other = sum(3, "");
  other.bytes = 1.0;
  refused(traces({{sum(0, "")}, {other}}),
          "chip 1, node 3 ('sum') is all-reduce of 1 B, but in its place chip 0, node 0");
  refused(traces({{sum(0, "1")}, {sum(0, "1")}}, {{"1", {1}}}),
          "group '1', which chip 0 is not in");
  Node small = receive(0, 0);
  small.bytes = 8.0;
  refused(traces({{send(0, 1)}, {small}}),
          "receives 8 B, but chip 0, node 0 ('message') sends 64 B");
  Traces one = traces({{send(0, 1)}});
  one.devices = 4;
  refused(one, "needs the traces of all chips");
}

}  // namespace
}  // namespace equarx::chakra::merged_nodes_test
