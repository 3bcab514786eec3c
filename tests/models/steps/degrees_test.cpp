#include "models/steps/degrees.hpp"

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::degrees_test {
namespace {

using testing::kLayer;
using testing::kTable;
using testing::small_experts;

constexpr workloads::LayerKind kExperts{.experts = true};
/// Eight experts of three matrices.
constexpr double kRouted = 8 * 3 * 64.0 * 32;
/// Attention, router and norms.
constexpr double kRest = 64.0 * 128 + 64 * 64 + 64 * 8 + 2 * 64;

using Axes = std::vector<std::string>;

TEST_CASE("degrees are the lengths of known axes") {
  const Degrees degrees =
      steps::degrees(lay_mesh({2, 4, 3}, {{"fsdp", 2}, {"expert", 4}, {"data", 3}}));
  CHECK(degrees.fsdp == 2);
  CHECK(degrees.expert == 4);
  CHECK(degrees.tensor == 1);
  CHECK(degrees.batch() == 24);
  CHECK_THROWS_WITH(steps::degrees(lay_mesh({4}, {{"experts", 4}})),
                    Catch::Contains("\"expert\", not 'experts'"));
}

TEST_CASE("experts are divided over their axis, other weights over fsdp and this axis, or copied") {
  const Degrees copied{.data = 3, .context = 2, .expert = 4};
  CHECK(copied.dense_shards() == 1);
  CHECK(copied.dense_replicas() == 24);
  CHECK(copied.expert_replicas() == 6);
  CHECK(copied.dense_shard_axes().empty());
  CHECK(copied.dense_replica_axes() == Axes{"data", "expert", "context"});
  const Degrees sharded{.data = 3, .fsdp = 2, .expert = 4};
  CHECK(sharded.dense_shards() == 8);
  CHECK(sharded.dense_replicas() == 3);
  CHECK(sharded.dense_shard_axes() == Axes{"fsdp", "expert"});
  CHECK(sharded.dense_replica_axes() == expert_replica_axes());
}

TEST_CASE("weights of a chip") {
  const workloads::Transformer model = small_experts();
  const Weights layer = layer_weights(model, kExperts, {.tensor = 2, .expert = 4});
  CHECK(layer.dense == kRest / 2);
  CHECK(layer.experts == kRouted / 4 / 2);
  CHECK(layer_weights(model, {}, {.expert = 4}).experts == 0.0);
  CHECK(layer_weights(model, kExperts, {}).all() == kRest + kRouted);
  CHECK(layer_weights(model, kExperts, {}).experts == 0.0);
  const double rest = kLayer + kRest + 2 * kTable + 64;  // with a layer without experts
  const Weights all = model_weights(model, {.expert = 4});
  CHECK(all.dense == rest);
  CHECK(all.experts == kRouted / 4);
  // Of each kind of shard the optimizer updates the part of one replica.
  const Degrees copied{.data = 2, .expert = 4};
  CHECK(updated_weights(all, copied, false) == rest + kRouted / 4);
  CHECK(updated_weights(all, copied, true) == rest / 8 + kRouted / 4 / 2);
  const Degrees sharded{.data = 2, .fsdp = 2, .expert = 4};
  CHECK(updated_weights(all, sharded, false) == rest / 8 + kRouted / 4 / 2);
  CHECK(updated_weights(all, sharded, true) == rest / 16 + kRouted / 4 / 4);
}

}  // namespace
}  // namespace equarx::steps::degrees_test
