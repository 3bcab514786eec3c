#include "importers/msccl/values.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/memories.hpp"
#include "importers/msccl/walk.hpp"
#include "models/numerics/random/philox.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

class Machine {
 public:
  Machine(const Schedule& schedule, const Queues& queues, bool in_place, const Transmit& transmit,
          Tensors& tensors)
      : schedule_(schedule),
        queues_(queues),
        memories_(schedule, in_place),
        transmit_(transmit),
        tensors_(tensors),
        values_(memories_.size() * tensors.elements, kUnwritten),
        messages_(queues.all.size()) {
    for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank)
      std::ranges::copy(tensors.inputs[rank], chunk(rank, {Memory::input, 0}));
  }

  void run(std::uint32_t at_once) {
    const Cut cut{.loops = 1, .chunks_at_once = at_once};
    walk(schedule_, queues_, cut, [&](const Visit& visit) { execute(visit, cut); });
    tensors_.outputs.clear();
    for (std::uint32_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const float* first = chunk(rank, {Memory::output, 0});
      tensors_.outputs.emplace_back(
          first, first + memory_chunks(schedule_, rank, Memory::output) * tensors_.elements);
    }
  }

 private:
  float* chunk(std::uint32_t rank, const Location& location) {
    return values_.data() + memories_.at(rank, location) * tensors_.elements;
  }

  void execute(const Visit& visit, const Cut& cut) {
    const std::uint32_t rank = visit.block.rank;
    const Step& step = schedule_.ranks[rank].blocks[visit.block.block].steps[visit.step];
    if (step.op == Op::nop) return;
    const std::uint32_t offset = visit.message * cut.chunks_at_once;
    const bool in_messages = sends(step.op) || receives(step.op);
    const std::uint32_t count =
        in_messages ? std::min(cut.chunks_at_once, step.count - offset) : step.count;
    const std::size_t elements = count * tensors_.elements;
    std::vector<float> values;
    if (receives(step.op)) {
      auto& queue = messages_[*queues_.received_by[rank][visit.block.block]];
      values = std::move(queue.front());
      queue.pop_front();
    }
    if (reads_source(step.op)) {
      const float* source = chunk(rank, {step.source.memory, step.source.chunk + offset});
      if (receives(step.op))
        std::transform(values.begin(), values.end(), source, values.begin(), std::plus<>());
      else
        values.assign(source, source + elements);
    }
    if (writes_destination(step.op)) {
      float* to = chunk(rank, {step.destination.memory, step.destination.chunk + offset});
      if (step.op == Op::reduce)
        std::transform(values.begin(), values.end(), to, to, std::plus<>());
      else
        std::ranges::copy(values, to);
    }
    if (!sends(step.op)) return;
    if (transmit_ && step.op != Op::receive_copy_send) transmit_(values);
    messages_[*queues_.sent_by[rank][visit.block.block]].push_back(std::move(values));
  }

  const Schedule& schedule_;
  const Queues& queues_;
  Memories memories_;
  const Transmit& transmit_;
  Tensors& tensors_;
  std::vector<float> values_;
  std::vector<std::deque<std::vector<float>>> messages_;  ///< by queue
};

/// Elements per chunk; two suffice, as steps move whole chunks.
constexpr std::size_t kElements = 2;
/// Random integers lie below this, so that sums over 4096 ranks stay within the 2^24 of FP32.
constexpr std::uint32_t kNumbers = 1U << 12U;
/// Maximum chunks over all buffers (0.5 GiB).
constexpr std::uint64_t kMostChunksCompared = std::uint64_t{1} << 26U;

std::vector<float> random_integers(std::uint32_t rank, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto random =
        numerics::philox4x32({static_cast<std::uint32_t>(i), rank, 0, 0}, numerics::philox_key(1));
    numbers[i] = static_cast<float>(random[0] % kNumbers);
  }
  return numbers;
}

std::string shown(float value) {
  return std::isnan(value) ? "unwritten" : fmt::format("{}", value);
}

std::string difference(const Schedule& schedule, const Tensors& tensors) {
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    if (!has_result(schedule, rank)) continue;
    const std::uint32_t chunks = memory_chunks(schedule, rank, Memory::output);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
      for (std::size_t element = 0; element < tensors.elements; ++element) {
        const float found = tensors.outputs[rank][chunk * tensors.elements + element];
        const auto expected = static_cast<float>(exact(schedule, tensors, rank, chunk, element));
        if (found != expected)
          return fmt::format("rank {}, chunk {} of the result: {} instead of {}", rank, chunk,
                             shown(found), expected);
      }
  }
  return {};
}

}  // namespace

bool has_result(const Schedule& schedule, std::uint32_t rank) {
  return schedule.collective != Collective::custom &&
         (schedule.collective != Collective::reduce || rank == 0);
}

double exact(const Schedule& schedule, const Tensors& tensors, std::uint32_t rank,
             std::uint32_t chunk, std::size_t element) {
  const auto ranks = static_cast<std::uint32_t>(schedule.ranks.size());
  const auto input = [&](std::uint32_t of, std::uint32_t at) {
    return static_cast<double>(tensors.inputs[of][at * tensors.elements + element]);
  };
  const std::uint32_t part = schedule.chunks / ranks;  // chunks per rank
  switch (schedule.collective) {
    case Collective::all_gather: return input(chunk / part, chunk % part);
    case Collective::all_to_all: return input(chunk / part, rank * part + chunk % part);
    case Collective::broadcast: return input(0, chunk);
    default: break;
  }
  const std::uint32_t at =
      schedule.collective == Collective::reduce_scatter ? rank * part + chunk : chunk;
  double sum = 0.0;
  for (std::uint32_t of = 0; of < ranks; ++of) sum += input(of, at);
  return sum;
}

void run_values(const Schedule& schedule, const Queues& queues, bool in_place,
                std::uint32_t at_once, const Transmit& transmit, Tensors& tensors) {
  Machine(schedule, queues, in_place, transmit, tensors).run(at_once);
}

Verdict verify(const Schedule& schedule, const Queues& queues, bool in_place) {
  if (Memories(schedule, in_place).size() > kMostChunksCompared)
    throw UserError("", fmt::format("has {} chunks over all buffers; at most {} can be compared",
                                    Memories(schedule, in_place).size(), kMostChunksCompared));
  Tensors tensors{.elements = kElements, .inputs = {}, .outputs = {}};
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank)
    tensors.inputs.push_back(
        random_integers(rank, memory_chunks(schedule, rank, Memory::input) * kElements));
  constexpr std::uint32_t kAllAtOnce = 0xFFFFFFFF;
  run_values(schedule, queues, in_place, kAllAtOnce, {}, tensors);
  if (schedule.collective == Collective::custom) return {};
  return {true, difference(schedule, tensors)};
}

}  // namespace equarx::schedules
