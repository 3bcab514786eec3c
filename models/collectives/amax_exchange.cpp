#include "models/collectives/amax_exchange.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace equarx::collectives {
namespace {

constexpr std::uint64_t kAmaxBytes = 4;

class Writer {
 public:
  explicit Writer(Program& program) : program_(program), grid_(program.grid().of_factors()) {}

  void write() {
    const std::vector<ChannelId> all = channels_to_all();
    if (!all.empty()) return exchange(all);
    for (std::size_t axis = 0; axis < grid_.axes(); ++axis) exchange_along(axis);
  }

 private:
  /// Returns one channel per other rank; empty if any is missing.
  std::vector<ChannelId> channels_to_all() const {
    std::set<Offset> offsets;
    std::vector<ChannelId> channels;
    for (ChannelId id = 0; id < program_.channels.size(); ++id)
      if (offsets.insert(program_.channels[id].offset).second) channels.push_back(id);
    return channels.size() + 1 == program_.ranks() ? channels : std::vector<ChannelId>{};
  }

  std::optional<ChannelId> channel_to(Offset offset) const {
    const auto found = std::ranges::find(program_.channels, offset, &Channel::offset);
    if (found == program_.channels.end()) return std::nullopt;
    return static_cast<ChannelId>(found - program_.channels.begin());
  }

  /// Each step forwards the running maximum by one rank, so after k steps a rank has the maximum
  /// over k ranks on each side.
  void exchange_along(std::size_t axis) {
    const std::uint32_t length = grid_.length(axis);
    const auto forward = channel_to(grid_.along(axis, 1));
    const auto backward = channel_to(grid_.along(axis, length - 1));
    std::vector<ChannelId> channels;
    if (forward) channels.push_back(*forward);
    if (backward && backward != forward) channels.push_back(*backward);
    if (channels.empty()) throw std::logic_error("no channel along an axis for the amax exchange");
    const std::uint32_t steps = channels.size() == 2 ? length / 2 : length - 1;
    for (std::uint32_t step = 0; step < steps; ++step) exchange(channels);
  }

  /// Exchanges the ranks' current maxima over the given channels.
  void exchange(const std::vector<ChannelId>& channels) {
    const auto buffer = static_cast<BufferId>(program_.buffers.size());
    program_.buffers.push_back({.content = Content::amax, .bytes = kAmaxBytes});
    emit({.op = Op::encode_amax, .buffer = buffer});
    const auto first = static_cast<MessageId>(program_.messages.size());
    for (const ChannelId channel : channels) {
      program_.messages.push_back({.buffer = buffer, .channel = channel});
      emit({.op = Op::send, .message = static_cast<MessageId>(program_.messages.size() - 1)});
    }
    for (MessageId message = first; message < program_.messages.size(); ++message) {
      emit({.op = Op::wait, .message = message});
      emit({.op = Op::merge_amax,
            .buffer = buffer,
            .origin = program_.received(program_.messages[message])});
    }
  }

  void emit(const Instruction& instruction) { program_.instructions.push_back(instruction); }

  Program& program_;
  RankGrid grid_;
};

}  // namespace

void append_amax_exchange(Program& program) { Writer(program).write(); }

}  // namespace equarx::collectives
