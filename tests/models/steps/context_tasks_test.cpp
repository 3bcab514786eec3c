#include "models/steps/context_tasks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "models/steps/mesh_layout.hpp"
#include "models/steps/training.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::context_tasks_test {
namespace {

using collectives::Collective;
using testing::kLayer;
using testing::kTable;
using testing::small_training;

constexpr std::uint32_t kChips = 2;
/// Keys of a chip: eight sequences of 16 positions, two heads of 16.
constexpr double kKeys = 8 * 16 * 2 * 16;

Training training_by(ContextMethod method) {
  Training training = small_training();
  training.context = method;
  return training;
}

StepGraph step_of(const Training& training) {
  return training_step(training, lay_mesh({kChips}, {{"context", kChips}}));
}

/// Tasks of a kind: number and elements of collectives, number and bytes of permutes.
struct Traffic {
  int tasks = 0;
  double size = 0.0;
};

std::map<std::string, Traffic> traffic(const StepGraph& graph) {
  std::map<std::string, Traffic> groups;
  for (const Task& task : graph.tasks) {
    double size = 0.0;
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      size = static_cast<double>(call->elements);
    else if (const auto* permute = std::get_if<Permute>(&task.work))
      size = static_cast<double>(permute->bytes);
    else
      continue;
    ++groups[task.group].tasks;
    groups[task.group].size += size;
  }
  return groups;
}

double flops(const StepGraph& graph) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<Computation>(&task.work))
      for (const workloads::Operation& one : work->operations) sum += one.flops;
  return sum;
}

double counted_flops(const StepGraph& graph) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<Computation>(&task.work)) sum += work->model_flops;
  return sum;
}

TEST_CASE("a ring sends keys and values on, and their gradients back to their chip") {
  const auto groups = traffic(step_of(training_by(ContextMethod::ring)));
  // Two layers, forward and backward: one hop of two chips; gradients: two hops.
  CHECK(groups.at("ring keys").tasks == 2 * 2);
  CHECK(groups.at("ring keys").size == 2 * 2 * 2 * kKeys * 2);
  CHECK(groups.at("ring gradients").tasks == 2 * 2);
  CHECK(groups.at("ring gradients").size == 2 * 2 * 2 * kKeys * 2);
  // Gradients of weights are summed over the axis.
  CHECK(groups.at("sum gradients").size == 2 * kLayer + 2 * kTable);
}

TEST_CASE("gathered keys and values are gathered in both passes, and their gradients scattered") {
  const auto groups = traffic(step_of(training_by(ContextMethod::all_gather)));
  CHECK(groups.at("gather keys").size == 2 * 2 * 2 * kKeys * kChips);
  CHECK(groups.at("scatter gradients of keys").size == 2 * 2 * kKeys * kChips);
}

TEST_CASE("exchanged heads: four exchanges in each pass, as large as queries, keys and values") {
  const auto groups = traffic(step_of(training_by(ContextMethod::all_to_all)));
  CHECK(groups.at("exchange heads").tasks == 2 * 2 * 4);
  CHECK(groups.at("exchange heads").size == 2 * 2 * (2 * 2 * kKeys + 2 * kKeys));
  Training recomputed = training_by(ContextMethod::all_to_all);
  recomputed.remat = {.qkv = Keep::recompute};
  CHECK(traffic(step_of(recomputed)).at("exchange heads").tasks == 2 * (2 * 4 + 3));
}

TEST_CASE("chips share the FLOPs of one chip with whole sequences") {
  for (const bool skips : {false, true})
    for (const ContextMethod method :
         {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::all_to_all}) {
      Training training = training_by(method);
      training.attention.skips_future = skips;
      const StepGraph one = training_step(training, lay_mesh({1}, {{"context", 1}}));
      const StepGraph divided = step_of(training);
      CHECK(kChips * flops(divided) == Approx(flops(one)));
      CHECK(kChips * counted_flops(divided) == Approx(model_flops(training)));
      training.positions = ContextOrder::contiguous;
      const StepGraph last = step_of(training);
      CHECK(counted_flops(last) == Approx(counted_flops(divided)));
      const bool more = skips && method != ContextMethod::all_to_all;
      CHECK((flops(last) > 1.001 * flops(divided)) == more);
    }
}

TEST_CASE("a distributed optimizer divides its state over data and context") {
  Training training = training_by(ContextMethod::ring);
  training.distributed_optimizer = true;
  const Mesh mesh = lay_mesh({2, 2}, {{"data", 2}, {"context", 2}});
  const StepGraph graph = training_step(training, mesh);
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      CHECK(call->axes == std::vector<std::size_t>{0, 1});
  const auto optimizer = std::ranges::find(graph.buffers, BufferUse::optimizer, &Buffer::use);
  CHECK(optimizer->bytes == Approx((2 * kLayer + 2 * kTable + 64) / 4 * 8));
}

TEST_CASE("indivisible positions and heads name a remedy") {
  Training training = training_by(ContextMethod::ring);
  training.sequence = 34;
  CHECK_THROWS_WITH(step_of(training), Catch::Contains("multiple of 4"));
  training.positions = ContextOrder::contiguous;
  CHECK_NOTHROW(step_of(training));
  const Mesh mesh = lay_mesh({4}, {{"context", 4}});
  CHECK_THROWS_WITH(training_step(training_by(ContextMethod::all_to_all), mesh),
                    Catch::Contains("2 key heads") && Catch::Contains("\"ring\""));
}

}  // namespace
}  // namespace equarx::steps::context_tasks_test
