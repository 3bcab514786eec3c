#include "models/workloads/experts.hpp"

#include <string_view>
#include <vector>

#include "base/exceptions/exceptions.hpp"
#include "models/workloads/operations.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::experts_test {
namespace {

using testing::find;
using testing::tiny_experts;

std::vector<Operation> operations(const ExpertMethod& method, std::uint32_t tensor = 1) {
  const Transformer model = tiny_experts();
  return expert_operations({model, shard(model, tensor), ResidualPlace::hbm, 20}, method);
}

std::vector<std::string_view> names(const std::vector<Operation>& all) {
  std::vector<std::string_view> result;
  for (const Operation& operation : all) result.push_back(operation.name);
  return result;
}

TEST_CASE("the expected number of used experts follows from a uniform router") {
  const Transformer model = tiny_experts();
  const ExpertLoad one = expert_load(model, {}, 1);
  CHECK(one.used == Approx(2.0));  // the two of the token
  CHECK(one.rows == 2.0);
  CHECK(one.stored == 8.0);
  CHECK(expert_load(model, {}, 2).used == Approx(8 * (1 - 0.75 * 0.75)));
  CHECK(expert_load(model, {}, 1000).used == Approx(8.0));
  // Two of eight on each of four chips, which all send tokens.
  const ExpertLoad quarter = expert_load(model, {.chips = 4}, 1);
  CHECK(quarter.stored == 2.0);
  CHECK(quarter.used == Approx(2 * (1 - 0.75 * 0.75 * 0.75 * 0.75)));
  CHECK(quarter.rows == 2.0);
}

TEST_CASE("an imbalance adds rows to the busiest chip, and none to the exchange") {
  const ExpertLoad load = expert_load(tiny_experts(), {.imbalance = 1.5}, 20);
  CHECK(load.rows == 60.0);
  CHECK(load.copies == 40.0);
}

TEST_CASE("a capacity is in whole rows of each expert and group, whatever arrives") {
  const ExpertMethod method{.capacity_factor = 1.3, .group = 10};
  const ExpertLoad load = expert_load(tiny_experts(), method, 20);
  CHECK(load.capacity == 8 * 3);  // 1.3 x 10 x 2 / 8 is 3.25
  CHECK(load.rows == 2 * 24);
  CHECK(load.copies == 2 * 24);
  CHECK(load.used == 8.0);
}

TEST_CASE("operations of experts match a manual calculation") {
  const std::vector<Operation> all = operations({});
  CHECK(names(all) == std::vector<std::string_view>{"router", "routing", "dispatch", "shared_in",
                                                    "shared_activation", "shared_out", "experts_in",
                                                    "experts_activation", "experts_out",
                                                    "combine"});
  CHECK(find(all, "router").flops == 2 * 20 * 8 * 8);
  CHECK(find(all, "routing").vector_ops == 20 * 8 * (1 + 9 + 2 + 2));
  CHECK(find(all, "dispatch").read_bytes == 20 * 8 * 2);
  CHECK(find(all, "dispatch").written_bytes == 40 * 8 * 2);
  const Operation& in = find(all, "experts_in");
  CHECK(in.flops == 2 * 40 * 8 * 12);  // gate and up
  CHECK(in.weight_bytes == Approx(expert_load(tiny_experts(), {}, 20).used * 8 * 12 * 2));
  CHECK(in.gemm.stored == 8.0);
  CHECK(find(all, "experts_activation").written_bytes == 40 * 6 * 2);
  CHECK(find(all, "experts_out").flops == 2 * 40 * 6 * 8);
  CHECK(find(all, "shared_in").flops == 2 * 20 * 8 * 8);
  const Operation& sum = find(all, "combine");
  CHECK(sum.read_bytes == (40 + 20) * 8 * 2);
  CHECK(sum.written_bytes == 20 * 8 * 2);
  CHECK(sum.vector_ops == 60 * 8 * (1 + 1) + 40 * 8 + 20 * 8 * 2);
  // Half the width of each expert.
  CHECK(find(operations({}, 2), "experts_in").flops == in.flops / 2);
}

TEST_CASE("masks multiply all rows of a group by each of its rows of experts") {
  const std::vector<Operation> all =
      operations({.capacity_factor = 1.0, .dispatch = Dispatch::einsum, .group = 4});
  constexpr double kCapacity = 8;  // one row of each expert for four tokens
  CHECK(find(all, "masks").written_bytes == 2 * 20 * kCapacity * 2);
  CHECK(find(all, "dispatch").flops == 2 * 20 * kCapacity * 8);
  CHECK(find(all, "combine").flops == 2 * 20 * kCapacity * 8);
  CHECK(find(all, "dispatch").read_bytes == (20 * 8 + 20 * kCapacity) * 2);
  CHECK(find(operations({.capacity_factor = 1.0, .group = 4}), "dispatch").flops == 0.0);
}

TEST_CASE("chips of experts exchange every copy of a row") {
  const std::vector<Operation> all = operations({.chips = 2});
  const std::vector<std::string_view> order = names(all);
  CHECK(order[3] == "dispatch");
  CHECK(all[3].kind == OperationKind::alltoall);
  CHECK(all[3].collective_bytes == 40 * 8 * 2);
  CHECK(order[order.size() - 2] == "combine");
  CHECK(all[order.size() - 2].collective_bytes == 40 * 8 * 2);
  CHECK(find(all, "experts_in").gemm.stored == 4.0);
}

TEST_CASE("layers without experts have an FFN") {
  const Transformer model = tiny_experts();
  const PhaseOperations phase = phase_operations(model, Prefill{5, 1}, 1, {});
  CHECK(phase.layers.size() == 3);
  CHECK_NOTHROW(find(phase.layer(layer_kind(model, 0)), "ffn_in"));
  CHECK_NOTHROW(find(phase.layer(layer_kind(model, 1)), "experts_in"));
  CHECK_NOTHROW(find(phase.layer(layer_kind(model, 2)), "experts_in"));
}

TEST_CASE("indivisible experts and small capacities are rejected with a remedy") {
  CHECK_THROWS_WITH(expert_load(tiny_experts(), {.chips = 3}, 1),
                    ContainsSubstring("8 experts of tiny cannot be divided over 3 chips; use 1, "
                                      "2, 4, 8"));
  CHECK_THROWS_WITH(expert_load(tiny_experts(), {.capacity_factor = 1.0}, 3),
                    ContainsSubstring("use at least 1.33"));
  CHECK_THROWS_AS(expert_load(tiny_experts(), {.capacity_factor = 1.0}, 3), exceptions::UserError);
}

}  // namespace
}  // namespace equarx::workloads::experts_test
