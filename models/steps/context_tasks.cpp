#include "models/steps/context_tasks.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/workloads/vector_work.hpp"

namespace equarx::steps {
namespace {

using collectives::Collective;
using workloads::kActivationBytes;
using workloads::Operation;

constexpr const char* kContext = "context";

bool is_attention(const Operation& operation) {
  return operation.kind == workloads::OperationKind::attention;
}

/// The operations before, of and after attention.
struct Divided {
  Operations before;
  Operations attention;
  Operations after;
};

Divided divided(const Operations& all) {
  const auto first = std::ranges::find_if(all, is_attention);
  auto last = first;
  for (auto one = first; one != all.end(); ++one)
    if (is_attention(*one)) last = one + 1;
  return {{all.begin(), first}, {first, last}, {last, all.end()}};
}

/// Adds a block's result to the sum of the previous ones: both are scaled by their softmax sums.
Operation merge(double results) {
  constexpr double kOps = 3.0;
  constexpr double kArrays = 2.0;
  Operation operation{.name = "merge_attention", .kind = workloads::OperationKind::vector};
  operation.vector_ops = results * (kArrays * workloads::kFromBf16 + kOps + workloads::kToBf16);
  operation.read_bytes = kArrays * results * kActivationBytes;
  operation.written_bytes = results * kActivationBytes;
  return operation;
}

}  // namespace

ContextTasks::ContextTasks(const TrainingPlan& plan, TaskWriter& tasks)
    : plan_(plan), tasks_(tasks) {
  const workloads::Shard shard = workloads::shard(plan.training.model, plan.degrees.tensor);
  const workloads::Transformer& model = plan.training.model;
  queries_ = plan.rows * model.head_size * shard.heads;
  // The mean of keys and values, which differ with latent attention.
  keys_ = plan.rows * (model.head_size + model.value_size()) / 2.0 * shard.kv_heads;
}

TaskId ContextTasks::run(const AttentionPass& pass, const Operations& operations, TaskIds after) {
  if (plan_.degrees.context == 1 || std::ranges::none_of(operations, is_attention)) {
    const TaskId done =
        tasks_.compute(pass.name, pass.group, operations, pass.model, std::move(after));
    return recomputes_inputs(operations) ? exchange_inputs(pass, {done}) : done;
  }
  const Divided parts = divided(operations);
  const TaskIds start = after;
  if (!parts.before.empty())
    after = {tasks_.compute(pass.name + ", before attention", pass.group, parts.before, pass.model,
                            std::move(after))};
  const TaskId done = attend(pass, parts.attention, after, start);
  if (parts.after.empty()) return done;
  return tasks_.compute(pass.name, pass.group, parts.after, pass.model, {done});
}

/// True if queries, keys and values are computed again and kept for attention of other heads.
bool ContextTasks::recomputes_inputs(const Operations& operations) const {
  return plan_.degrees.context > 1 && plan_.training.context == ContextMethod::all_to_all &&
         std::ranges::find(operations, "qkv", &Operation::name) != operations.end();
}

TaskId ContextTasks::attend(const AttentionPass& pass, const Operations& attention,
                            const TaskIds& ready, const TaskIds& start) {
  switch (plan_.training.context) {
    case ContextMethod::ring:
      return pass.backward ? ring_backward(pass, attention, ready) : ring(pass, attention, ready);
    case ContextMethod::all_gather: return gathered(pass, attention, ready, start);
    case ContextMethod::all_to_all: return exchanged(pass, attention, ready);
  }
  throw std::logic_error("unknown attention over the context axis");
}

/// One of the blocks of attention: all queries, and the keys of one chip.
Operations ContextTasks::block_of(const Operations& attention) const {
  const double share = 1.0 / plan_.degrees.context;
  // Reads and writes consist of operands as large as the queries, which every block repeats, and of
  // the keys and values of all chips, or their gradients.
  const double all_keys = 2.0 * keys_ * plan_.degrees.context;
  const auto of_block = [&](double bytes, double queries, double keys) {
    const double whole = queries * queries_ + keys * all_keys;
    return bytes * (queries * queries_ + keys * all_keys * share) / whole;
  };
  Operations block = attention;
  for (Operation& operation : block) {
    const bool gradient = operation.name == "attention_gradient";
    operation.flops *= share;
    operation.training_flops *= share;
    operation.vector_ops *= share;
    operation.read_bytes = of_block(operation.read_bytes, gradient ? 3.0 : 1.0, 1.0);
    operation.written_bytes = of_block(operation.written_bytes, 1.0, gradient ? 1.0 : 0.0);
  }
  return block;
}

TaskId ContextTasks::hop(const std::string& what, std::uint32_t number, const AttentionPass& pass,
                         TaskIds after) {
  return tasks_.shift(fmt::format("send {} {} of {}", what, number, pass.name), "ring " + what,
                      "ring " + what, kContext, 2.0 * keys_ * kActivationBytes, std::move(after));
}

TaskId ContextTasks::ring(const AttentionPass& pass, const Operations& attention,
                          const TaskIds& ready) {
  Operations block = block_of(attention);
  TaskIds keys = ready;
  TaskId done = kNoTask;
  for (std::uint32_t i = 0; i < plan_.degrees.context; ++i) {
    const TaskIds here = keys;
    if (i + 1 < plan_.degrees.context) keys = {hop("keys", i + 1, pass, here)};
    done = tasks_.compute(fmt::format("{}, block {}", pass.name, i), pass.group, block, pass.model,
                          here);
    if (i == 0) block.push_back(merge(queries_));
  }
  return done;
}

TaskId ContextTasks::ring_backward(const AttentionPass& pass, const Operations& attention,
                                   const TaskIds& ready) {
  const Operations block = block_of(attention);
  TaskIds keys = ready;
  TaskId gradients = kNoTask;
  for (std::uint32_t i = 0; i < plan_.degrees.context; ++i) {
    const TaskIds here = keys;
    if (i + 1 < plan_.degrees.context) keys = {hop("keys", i + 1, pass, here)};
    const TaskId made = tasks_.compute(fmt::format("{}, block {}", pass.name, i), pass.group, block,
                                       pass.model, here);
    gradients = hop("gradients", i + 1, pass, {made});
  }
  return gradients;
}

TaskId ContextTasks::gathered(const AttentionPass& pass, const Operations& attention,
                              const TaskIds& ready, const TaskIds& start) {
  const double elements = 2.0 * keys_ * plan_.degrees.context;
  // The backward pass needs keys that a forward or recomputing pass has left on their chips.
  const TaskId keys = tasks_.communicate("gather keys of " + pass.name, "gather keys", "keys",
                                         Collective::all_gather, {kContext}, elements,
                                         pass.backward ? start : ready);
  TaskIds after = ready;
  after.push_back(keys);
  const TaskId done = tasks_.compute(pass.name + ", attention of all keys", pass.group, attention,
                                     pass.model, std::move(after));
  if (!pass.backward) return done;
  return tasks_.communicate("scatter gradients of keys of " + pass.name,
                            "scatter gradients of keys", "keys", Collective::reduce_scatter,
                            {kContext}, elements, {done});
}

TaskId ContextTasks::exchanged(const AttentionPass& pass, const Operations& attention,
                               const TaskIds& ready) {
  const TaskId here =
      pass.backward ? exchange("result", pass, queries_, ready) : exchange_inputs(pass, ready);
  const TaskId done = tasks_.compute(pass.name + ", attention of some heads", pass.group, attention,
                                     pass.model, {here});
  return pass.backward ? exchange_inputs(pass, {done}) : exchange("result", pass, queries_, {done});
}

TaskId ContextTasks::exchange_inputs(const AttentionPass& pass, const TaskIds& ready) {
  exchange("queries", pass, queries_, ready);
  exchange("keys", pass, keys_, ready);
  return exchange("values", pass, keys_, ready);
}

TaskId ContextTasks::exchange(const std::string& what, const AttentionPass& pass, double elements,
                              const TaskIds& ready) {
  return tasks_.communicate(fmt::format("exchange {} of {}", what, pass.name), "exchange heads",
                            "heads", Collective::all_to_all, {kContext}, elements, ready);
}

}  // namespace equarx::steps
