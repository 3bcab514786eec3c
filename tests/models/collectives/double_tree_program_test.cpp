#include "models/collectives/double_tree_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::double_tree_program_test {
namespace {

using numerics::ElementFormat;

constexpr numerics::BlockFormat kFp16{.element = ElementFormat::fp16};

Program make(std::uint32_t nodes, std::uint32_t chips, std::uint64_t elements,
             std::uint32_t microshards) {
  return make_double_trees(RankGrid({nodes, chips}), elements, ElementFormat::fp16,
                           {kFp16, kFp16, {.microshards = microshards}});
}

TEST_CASE("the first tree is that of the drawing in NCCL's trees.cc") {
  const std::vector<TreeNode> tree = tree_of_nodes(14, 0);
  CHECK(tree[0] == TreeNode{.second_child = 8});
  CHECK(tree[8] == TreeNode{.parent = 0, .first_child = 4, .second_child = 12});
  CHECK(tree[12] == TreeNode{.parent = 8, .first_child = 10, .second_child = 13});
  CHECK(tree[10] == TreeNode{.parent = 12, .first_child = 9, .second_child = 11});
  CHECK(tree[13] == TreeNode{.parent = 12});
  CHECK(tree[7] == TreeNode{.parent = 6});
}

TEST_CASE("a leaf of one tree is an inner node of the other, or the root of one of them") {
  for (std::uint32_t nodes = 2; nodes <= 33; ++nodes) {
    CAPTURE(nodes);
    std::vector<std::uint32_t> inner(nodes);
    for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
      const std::vector<TreeNode> found = tree_of_nodes(nodes, tree);
      CHECK(std::ranges::count_if(found, [](const TreeNode& node) { return !node.parent; }) == 1);
      for (std::uint32_t node = 0; node < nodes; ++node) {
        for (const auto& child : {found[node].first_child, found[node].second_child})
          if (child) CHECK(found[*child].parent == node);
        if (found[node].first_child) ++inner[node];
      }
    }
    for (const std::uint32_t times : inner) CHECK(times <= 1);
  }
}

TEST_CASE("the second tree mirrors the first, or shifts an odd number of nodes") {
  CHECK(tree_of_nodes(12, 1)[11] == TreeNode{.second_child = 3});
  CHECK(tree_of_nodes(12, 1)[3] == TreeNode{.parent = 11, .first_child = 7, .second_child = 1});
  CHECK(tree_of_nodes(13, 1)[1] == TreeNode{.second_child = 9});
}

TEST_CASE("all edges of both trees and all chains carry half of the tensor each way") {
  for (const auto& [nodes, chips] : {std::pair{2U, 2U}, std::pair{3U, 4U}, std::pair{4U, 8U}}) {
    CAPTURE(nodes, chips);
    const std::uint64_t elements = std::uint64_t{1024} * kTrees * chips;
    const Program program = make(nodes, chips, elements, 2);
    std::uint64_t within = 0;
    std::uint64_t between = 0;
    const std::vector<std::uint64_t> bytes = total_sent_bytes(program);
    for (ChannelId channel = 0; channel < bytes.size(); ++channel) {
      const Rank to = program.grid().move(0, program.channels[channel].offset);
      (program.grid().coordinate(to, 0) == 0 ? within : between) += bytes[channel];
    }
    const std::uint64_t ways = 2;  // up and down; each tree half, its edges all of that half
    CHECK(between == ways * 2 * elements * (nodes - 1));
    CHECK(within == ways * 2 * elements * nodes * (chips - 1));
  }
}

TEST_CASE("parts are NCCL's chunks of 512 KiB, or of a given size") {
  constexpr std::uint64_t kElements = 1024 * 1024;  // 2 MiB of fp16
  CHECK(tree_microshards({}, kFp16, kElements) == 4);
  CHECK(tree_microshards({}, kFp16, 100) == 1);
  CHECK(tree_microshards({.sizes = {.microshard = 16384}}, kFp16, kElements) == 64);
  CHECK(tree_microshards({.microshards = 3}, kFp16, kElements) == 3);
}

TEST_CASE("a tree that adds before the term has arrived is rejected") {
  Program program = make(2, 2, 4096, 1);
  const auto add = std::ranges::find(program.instructions, Op::add, &Instruction::op);
  REQUIRE(std::prev(add)->op == Op::wait);
  std::iter_swap(add, std::prev(add));
  CHECK_THROWS_AS(validate(program), std::logic_error);
}

TEST_CASE("trees between nodes refuse scales and too few elements") {
  const numerics::BlockFormat int8{.element = ElementFormat::int8, .scaled = true};
  CHECK_THROWS_AS(make_double_trees(RankGrid({2, 2}), 4096, ElementFormat::fp16, {int8, int8, {}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(make(2, 8, 8, 4), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::double_tree_program_test
