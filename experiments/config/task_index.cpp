#include "experiments/config/task_index.hpp"

#include <functional>
#include <variant>

namespace equarx::config {
namespace {

/// Distributes hashes of members (Boost's hash_combine).
void combine(std::size_t& hash, std::size_t member) {
  constexpr std::size_t kGolden = 0x9E3779B97F4A7C15;
  hash ^= member + kGolden + (hash << 6U) + (hash >> 2U);
}

std::optional<StepCall> step_call(const steps::Task& task) {
  const auto* call = std::get_if<steps::CollectiveCall>(&task.work);
  return call == nullptr ? std::nullopt : std::optional(StepCall{task.group, *call});
}

/// The messages of a permute, which are the same whether it waits or not.
std::optional<steps::Permute> waiting_permute(const steps::Task& task) {
  const auto* permute = std::get_if<steps::Permute>(&task.work);
  if (permute == nullptr) return std::nullopt;
  steps::Permute waiting = *permute;
  waiting.waits = true;
  return waiting;
}

template <typename Key, typename Map>
std::optional<std::size_t> number_of(const std::optional<Key>& key, const Map& numbers) {
  if (!key) return std::nullopt;
  const auto found = numbers.find(*key);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

template <typename Key, typename Map>
std::optional<std::size_t> add_to(Map& numbers, const std::optional<Key>& key) {
  if (!key) return std::nullopt;
  return numbers.try_emplace(*key, numbers.size()).first->second;
}

}  // namespace

std::size_t TaskIndex::Hash::operator()(const StepCall& call) const {
  std::size_t hash = std::hash<std::string>()(call.group);
  combine(hash, static_cast<std::size_t>(call.call.collective));
  for (const std::size_t axis : call.call.axes) combine(hash, axis);
  if (call.call.groups) combine(hash, call.call.groups->lists);
  combine(hash, call.call.elements);
  return hash;
}

std::size_t TaskIndex::Hash::operator()(const steps::Permute& permute) const {
  std::size_t hash = permute.pairs;
  combine(hash, permute.bytes);
  return hash;
}

TaskIndex::TaskIndex(const std::vector<StepCall>& calls,
                     const std::vector<steps::Permute>& permutes) {
  for (const StepCall& call : calls) calls_.try_emplace(call, calls_.size());
  for (const steps::Permute& permute : permutes) permutes_.try_emplace(permute, permutes_.size());
}

std::optional<std::size_t> TaskIndex::add_call(const steps::Task& task) {
  return add_to(calls_, step_call(task));
}

std::optional<std::size_t> TaskIndex::add_permute(const steps::Task& task) {
  return add_to(permutes_, waiting_permute(task));
}

std::optional<std::size_t> TaskIndex::call_of(const steps::Task& task) const {
  return number_of(step_call(task), calls_);
}

std::optional<std::size_t> TaskIndex::permute_of(const steps::Task& task) const {
  return number_of(waiting_permute(task), permutes_);
}

}  // namespace equarx::config
