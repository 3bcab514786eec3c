#include "models/steps/training.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "models/steps/mesh_layout.hpp"
#include "models/steps/training_operations.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::training_test {
namespace {

using collectives::Collective;
using testing::kLayer;
using testing::kLayerMatrices;
using testing::kTable;
using testing::small_model;
using testing::small_training;

std::map<std::string, int> groups_of(const StepGraph& graph) {
  std::map<std::string, int> groups;
  for (const Task& task : graph.tasks) ++groups[task.group];
  return groups;
}

/// Total elements of the collectives of a kind.
double elements(const StepGraph& graph, Collective collective) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      if (call->collective == collective) sum += static_cast<double>(call->elements);
  return sum;
}

double total_model_flops(const StepGraph& graph) {
  double flops = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<Computation>(&task.work)) flops += work->model_flops;
  return flops;
}

TEST_CASE("fully sharded: weights are gathered for each pass, and gradients scattered once") {
  const StepGraph graph = training_step(small_training(), lay_mesh({4}, {{"fsdp", 4}}));
  CHECK_NOTHROW(validate(graph));
  CHECK(elements(graph, Collective::all_gather) == 2 * (2 * kLayer + kTable));
  CHECK(elements(graph, Collective::reduce_scatter) == 2 * kLayer + 2 * kTable);
  CHECK(elements(graph, Collective::all_reduce) == 0.0);
  const std::map<std::string, int> groups = groups_of(graph);
  CHECK(groups.at("gather weights") == 6);
  CHECK(groups.at("scatter gradients") == 4);
  CHECK(groups.at("optimizer") == 1);
  CHECK_FALSE(groups.contains("recompute"));
  CHECK_FALSE(groups.contains("offload"));
}

TEST_CASE("model FLOPs are three forward passes, regardless of recomputation") {
  Training training = small_training();
  for (const Remat& remat : {Remat{}, kFullRemat, kMinimalRemat})
    for (const bool skips : {false, true}) {
      training.remat = remat;
      training.attention.skips_future = skips;
      const StepGraph graph = training_step(training, lay_mesh({4}, {{"fsdp", 4}}));
      CHECK(total_model_flops(graph) == Approx(model_flops(training) / 4));
    }
  training.logit_tiles = 8;
  const StepGraph tiled = training_step(training, lay_mesh({4}, {{"fsdp", 4}}));
  CHECK(total_model_flops(tiled) == Approx(model_flops(training) / 4));
  CHECK(groups_of(tiled).at("recompute") == 2 + 1);  // two layers, and the head
  const double products = 2 * kLayerMatrices + kTable;
  const double attention = 4.0 * 2 * 32 * 4 * 16;
  CHECK(model_flops(training) == Approx(3 * 8 * 32 * (2 * products + attention)));
}

TEST_CASE("data parallelism sums gradients in buckets of layers, after the last microbatch") {
  Training training = small_training();
  training.microbatches = 2;
  const Mesh mesh = lay_mesh({4}, {{"data", 4}});
  const StepGraph each = training_step(training, mesh);
  CHECK(groups_of(each).at("sum gradients") == 4);  // two tables and two layers
  CHECK(elements(each, Collective::all_reduce) == 2 * kLayer + 2 * kTable);
  CHECK(elements(each, Collective::all_gather) == 0.0);
  training.buckets = 3;
  const StepGraph three = training_step(training, mesh);
  CHECK(groups_of(three).at("sum gradients") == 2);
  CHECK(elements(three, Collective::all_reduce) == 2 * kLayer + 2 * kTable);
}

TEST_CASE("scattered gradients are summed over data as shards") {
  const Mesh mesh = lay_mesh({2, 2}, {{"data", 2}, {"fsdp", 2}});
  const StepGraph graph = training_step(small_training(), mesh);
  CHECK(elements(graph, Collective::all_reduce) == (2 * kLayer + 2 * kTable) / 2);
}

TEST_CASE("tensor parallelism sums activations twice in each pass of a layer") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({2}, {{"tensor", 2}});
  const double activations = 8 * 32 * 64;
  const StepGraph sums = training_step(training, mesh);
  CHECK(groups_of(sums).at("sum activations") == 8);
  CHECK(elements(sums, Collective::all_reduce) == 8 * activations);
  training.sequence_parallel = true;
  const StepGraph along = training_step(training, mesh);
  CHECK(elements(along, Collective::all_reduce) == 0.0);
  // Per half of a layer: its input in both passes, and the gradient of its result.
  CHECK(elements(along, Collective::all_gather) == 12 * activations);
  CHECK(elements(along, Collective::reduce_scatter) == 8 * activations);
}

TEST_CASE("recomputation repeats the communication of tensor parallelism") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({2}, {{"tensor", 2}});
  const auto sums = [&](const Remat& remat) {
    training.remat = remat;
    return groups_of(training_step(training, mesh)).at("sum activations");
  };
  CHECK(sums({}) == 8);
  CHECK(sums(kMinimalRemat) == 8);
  CHECK(sums({.ffn_in = Keep::recompute}) == 8);
  CHECK(sums(kFullRemat) == 10);  // output projections of both layers
  training.sequence_parallel = true;
  const StepGraph along = training_step(training, mesh);
  CHECK(elements(along, Collective::reduce_scatter) == 10 * 8 * 32 * 64);
  CHECK(elements(along, Collective::all_gather) == 12 * 8 * 32 * 64);
}

TEST_CASE("a recomputed result of the FFN is summed again before its post-norm") {
  Training training = small_training();
  training.model.post_norms = true;
  const Mesh mesh = lay_mesh({2}, {{"tensor", 2}});
  const auto sums = [&](const Remat& remat) {
    training.remat = remat;
    return groups_of(training_step(training, mesh)).at("sum activations");
  };
  CHECK(sums({}) == 8);
  CHECK(sums({.ffn_in = Keep::recompute}) == 10);
  CHECK(sums(kFullRemat) == 12);
}

/// True if `task` starts only after `before` has ended.
bool waits_for(const StepGraph& graph, const std::string& task, const std::string& before) {
  std::vector<bool> over(graph.tasks.size());
  const auto id = [&](const std::string& name) {
    const auto found = std::ranges::find(graph.tasks, name, &Task::name);
    REQUIRE(found != graph.tasks.end());
    return static_cast<TaskId>(found - graph.tasks.begin());
  };
  std::vector<TaskId> waiting = {id(task)};
  const std::vector<std::vector<TaskId>> all = predecessors(graph);
  while (!waiting.empty()) {
    const TaskId at = waiting.back();
    waiting.pop_back();
    for (const TaskId one : all[at]) {
      if (over[one]) continue;
      over[one] = true;
      waiting.push_back(one);
    }
  }
  return over[id(before)];
}

TEST_CASE("with sequence parallelism the backward pass gathers kept shards") {
  Training training = small_training();
  training.sequence_parallel = true;
  training.remat = kFullRemat;
  const StepGraph graph = training_step(training, lay_mesh({2}, {{"tensor", 2}}));
  CHECK(waits_for(graph, "recompute 1, attention", "gather input of backward 1, attention"));
  CHECK(waits_for(graph, "gather input of backward 1, FFN", "scatter recompute 1, attention"));
  CHECK(waits_for(graph, "recompute 1, FFN", "gather input of backward 1, FFN"));
  CHECK(waits_for(graph, "backward 1, FFN", "recompute 1, FFN"));
  // Kept shards are gathered while the core is busy with earlier work.
  CHECK_FALSE(waits_for(graph, "gather input of backward 0, attention", "backward 1, attention"));
  CHECK(waits_for(graph, "gather input of backward 0, attention", "head backward"));
}

TEST_CASE("offloaded activations move to the host and back before they are needed") {
  Training training = small_training();
  training.remat = {.layer_input = Keep::offload, .qkv = Keep::offload};
  const StepGraph graph = training_step(training, lay_mesh({4}, {{"fsdp", 4}}));
  const std::map<std::string, int> groups = groups_of(graph);
  CHECK(groups.at("offload") == 2);
  CHECK(groups.at("fetch") == 2);
  const auto& task = *std::ranges::find(graph.tasks, "offload 0", &Task::name);
  CHECK(std::get<HostTransfer>(task.work).bytes == 2 * 32 * (64 + 128) * 2.0);
  const auto backward = std::ranges::find(graph.tasks, "backward 0", &Task::name);
  const auto fetch = std::ranges::find(graph.tasks, "fetch 0", &Task::name);
  const auto id = static_cast<TaskId>(fetch - graph.tasks.begin());
  CHECK(std::ranges::find(backward->after, id) != backward->after.end());
}

TEST_CASE("a single chip does not communicate") {
  const StepGraph graph = training_step(small_training(), lay_mesh({1}, {{"fsdp", 1}}));
  for (const Task& task : graph.tasks) CHECK(std::holds_alternative<Computation>(task.work));
}

TEST_CASE(
    "a distributed optimizer scatters gradients, and weights are gathered before they are needed") {
  Training training = small_training();
  training.microbatches = 2;
  training.distributed_optimizer = true;
  training.gradient_dtype = numerics::ElementFormat::fp32;
  const StepGraph graph = training_step(training, lay_mesh({4}, {{"data", 4}}));
  CHECK(elements(graph, Collective::all_reduce) == 0.0);
  CHECK(elements(graph, Collective::reduce_scatter) == 2 * kLayer + 2 * kTable);
  CHECK(elements(graph, Collective::all_gather) == 2 * kLayer + 2 * kTable);
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      CHECK(call->dtype == (call->collective == Collective::reduce_scatter
                                ? numerics::ElementFormat::fp32
                                : numerics::ElementFormat::bf16));
  const std::string first = "forward 1 of microbatch 0";
  CHECK(waits_for(graph, first, "gather updated layer 1 to layer 1"));
  CHECK_FALSE(waits_for(graph, first, "gather updated head to head"));
  CHECK(waits_for(graph, "head of microbatch 0", "gather updated head to head"));
  CHECK(waits_for(graph, "optimizer", "sum gradients to layer 0 of microbatch 1"));
}

TEST_CASE("ZeRO stage 2 scatters the gradients of every microbatch") {
  Training training = small_training();
  training.microbatches = 2;
  training.distributed_optimizer = true;
  training.buckets = 3;
  training.sharded_gradients = true;
  const Mesh mesh = lay_mesh({4}, {{"data", 4}});
  const StepGraph graph = training_step(training, mesh);
  CHECK(elements(graph, Collective::all_reduce) == 0.0);
  CHECK(elements(graph, Collective::reduce_scatter) == 2 * (2 * kLayer + 2 * kTable));
  CHECK(elements(graph, Collective::all_gather) == 2 * kLayer + 2 * kTable);
  CHECK(waits_for(graph, "sum gradients to layer 0 of microbatch 0", "backward 0 of microbatch 0"));
  CHECK_FALSE(
      waits_for(graph, "sum gradients to layer 0 of microbatch 0", "backward 1 of microbatch 1"));
  training.distributed_optimizer = false;
  CHECK_THROWS_WITH(training_step(training, mesh), Catch::Contains("\"distributed_optimizer\""));
}

TEST_CASE("a bucket larger than the model prevents overlap") {
  Training training = small_training();
  training.distributed_optimizer = true;
  training.buckets = 100;
  const StepGraph graph = training_step(training, lay_mesh({4}, {{"data", 4}}));
  CHECK(groups_of(graph).at("gather updated weights") == 1);
  CHECK(groups_of(graph).at("sum gradients") == 1);
  CHECK(waits_for(graph, "embedding", "gather updated embedding to head"));
  CHECK(waits_for(graph, "sum gradients to embedding, the rest", "embedding backward"));
}

TEST_CASE("a distributed optimizer with fsdp gathers shards first, then whole weights") {
  Training training = small_training();
  training.distributed_optimizer = true;
  const Mesh mesh = lay_mesh({2, 2}, {{"data", 2}, {"fsdp", 2}});
  const StepGraph graph = training_step(training, mesh);
  CHECK(waits_for(graph, "gather layer 0 forward", "gather updated layer 0 to layer 0"));
  CHECK(elements(graph, Collective::all_gather) ==
        2 * (2 * kLayer + kTable) + (2 * kLayer + 2 * kTable) / 2);
}

TEST_CASE("a distributed optimizer needs a data axis") {
  Training training = small_training();
  training.distributed_optimizer = true;
  CHECK_THROWS_WITH(training_step(training, lay_mesh({4}, {{"fsdp", 4}})),
                    Catch::Contains("mesh axis \"data\""));
  CHECK_NOTHROW(training_step(training, lay_mesh({1}, {{"data", 1}})));
}

TEST_CASE("one table for lookup and logits is summed and updated once") {
  Training training = small_training();
  training.model.tied_embeddings = true;
  training.distributed_optimizer = true;
  const StepGraph graph = training_step(training, lay_mesh({4}, {{"data", 4}}));
  CHECK(elements(graph, Collective::reduce_scatter) == 2 * kLayer + kTable);
  CHECK(elements(graph, Collective::all_gather) == 2 * kLayer + kTable);
  CHECK(waits_for(graph, "head", "gather updated embedding to embedding"));
}

TEST_CASE("weights are cast in the first microbatch, unless they are freed") {
  Training training = small_training();
  training.microbatches = 2;
  training.precision = precisions()[1];
  const auto casts = [&](const char* axis) {
    const StepGraph graph = training_step(training, lay_mesh({4}, {{axis, 4}}));
    int count = 0;
    for (const Task& task : graph.tasks)
      if (const auto* work = std::get_if<Computation>(&task.work))
        count += static_cast<int>(
            std::ranges::count(work->operations, "cast_weights", &workloads::Operation::name));
    return count;
  };
  CHECK(casts("data") == 2 * 4);            // GEMMs of a layer: qkv, output, FFN in and out
  CHECK(casts("fsdp") == 2 * (2 * 2 * 4));  // both passes of both microbatches
}

TEST_CASE("prefetching more layers gathers their weights earlier") {
  Training training = small_training();
  const auto waits = [&](std::uint32_t prefetch) {
    training.prefetch = prefetch;
    const StepGraph graph = training_step(training, lay_mesh({4}, {{"fsdp", 4}}));
    const auto gather = std::ranges::find(graph.tasks, "gather layer 1 forward", &Task::name);
    REQUIRE(gather != graph.tasks.end());
    return gather->after.empty() ? std::string() : graph.tasks[gather->after.front()].name;
  };
  CHECK(waits(0) == "forward 0");
  CHECK(waits(1) == "embedding");
  CHECK(waits(2).empty());
}

TEST_CASE("layers with experts gather and scatter more weights, and count active ones in MFU") {
  Training training = testing::small_training();
  const double dense = model_flops(training);
  training.model = testing::small_experts();
  const StepGraph graph = training_step(training, lay_mesh({2}, {{"fsdp", 2}}));
  std::vector<double> gathered;
  for (const Task& task : graph.tasks)
    if (task.name == "gather layer 0 forward" || task.name == "gather layer 1 forward")
      gathered.push_back(static_cast<double>(std::get<CollectiveCall>(task.work).elements));
  REQUIRE(gathered.size() == 2);
  CHECK(gathered[0] == testing::kLayer);
  CHECK(gathered[1] == testing::kLayer - 3 * 64 * 128 + 8 * 3 * 64 * 32 + 64 * 8);
  // Two experts of 32 are half an FFN of 128, and a router of 64 x 8.
  CHECK(model_flops(training) == Approx(dense - 6.0 * 256 * (3 * 64 * 64 - 64 * 8)));
}

/// Projection and norms of a module that predicts a further token, with its layer.
constexpr double kModule = 2 * 64.0 * 64 + 3 * 64 + kLayer;

Training predicting(std::uint32_t depth) {
  Training training = small_training();
  training.model.prediction_layers = 2;
  training.prediction_depth = depth;
  return training;
}

/// Parameters with optimizer states, of all chips that have some.
double updated(const StepGraph& graph) {
  double sum = 0.0;
  for (const Buffer& buffer : graph.buffers)
    if (buffer.use == BufferUse::optimizer) sum += buffer.bytes / 8.0;
  return sum;
}

TEST_CASE("modules that predict further tokens have a projection, a layer and the shared head") {
  const StepGraph graph = training_step(predicting(2), lay_mesh({2}, {{"data", 2}}));
  CHECK(updated(graph) == Approx(workloads::parameters(small_model()) + 2 * kModule));
  CHECK(total_model_flops(graph) == Approx(model_flops(predicting(2)) / 2));
  const double products = 2 * 64.0 * 64 + kLayerMatrices + kTable;
  CHECK(model_flops(predicting(1)) - model_flops(predicting(0)) ==
        Approx(3 * 8 * 32 * (2 * products + 4.0 / 2 * 32 * 4 * 16 * 2)));
  // The tables are summed once.
  CHECK(elements(graph, Collective::all_reduce) ==
        Approx(2 * kLayer + 2 * kModule + 2 * kTable).epsilon(1e-9));
  std::map<std::string, int> names;
  for (const Task& task : graph.tasks) ++names[task.name];
  for (const char* const name : {"input of prediction 1", "forward of prediction 2",
                                 "head of prediction 2", "head backward of prediction 1",
                                 "backward of prediction 1", "input gradients of prediction 1"})
    CHECK(names[name] == 1);
}

TEST_CASE("with fsdp their weights are gathered for each pass, and the embedding again") {
  const Mesh mesh = lay_mesh({4}, {{"fsdp", 4}});
  const StepGraph plain = training_step(predicting(0), mesh);
  const StepGraph graph = training_step(predicting(1), mesh);
  CHECK(elements(graph, Collective::all_gather) - elements(plain, Collective::all_gather) ==
        Approx(2 * kModule + kTable));
  CHECK(elements(graph, Collective::reduce_scatter) - elements(plain, Collective::reduce_scatter) ==
        Approx(kModule));
}

TEST_CASE("the last stage of a pipeline predicts further tokens, with a copy of the embedding") {
  for (const PipelineKind kind : {PipelineKind::one_forward_one_backward, PipelineKind::zero_bubble,
                                  PipelineKind::dual_pipe}) {
    Training training = predicting(1);
    training.microbatches = 4;
    training.pipeline.schedule = kind;
    const StepGraph graph =
        training_step(training, lay_mesh({2, 2}, {{"pipeline", 2}, {"data", 2}}));
    const bool dual = kind == PipelineKind::dual_pipe;  // two stages have all weights
    const double all = workloads::parameters(training.model) + kModule;
    CHECK(updated(graph) == Approx(dual ? 2 * all : all + kTable));
    double flops = 0.0;
    for (const Task& task : graph.tasks)
      if (const auto* work = std::get_if<Computation>(&task.work)) flops += work->model_flops;
    CHECK(flops * 2 == Approx(model_flops(training)));
    for (const Task& task : graph.tasks)
      CHECK(std::set(task.after.begin(), task.after.end()).size() == task.after.size());
    training.distributed_optimizer = true;
    const StepGraph sharded =
        training_step(training, lay_mesh({2, 2}, {{"pipeline", 2}, {"data", 2}}));
    CHECK(elements(sharded, Collective::all_gather) ==
          Approx(2 * kLayer + kModule + (dual ? 2 : 3) * kTable));
  }
}

TEST_CASE("predictions need modules of the model") {
  CHECK_THROWS_WITH(training_step(predicting(3), lay_mesh({2}, {{"data", 2}})),
                    Catch::Contains("small has 2 modules that predict further tokens; use at most "
                                    "2"));
}

}  // namespace
}  // namespace equarx::steps::training_test
