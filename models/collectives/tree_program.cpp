#include "models/collectives/tree_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr Rank kRoot = 0;
constexpr RankRange kRootOnly{kRoot, kRoot};

RankRange only(Rank rank) { return {rank, rank}; }

class TreeBuilder {
 public:
  explicit TreeBuilder(ProgramWriter& writer)
      : writer_(writer),
        ranks_(writer.program().ranks()),
        cut_(writer.program().partition.cut(0)),
        parts_(cut_.minishards * cut_.microshards) {
    const RankGrid& grid = writer.program().grid();
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      writer_.add_channel(grid.along(axis, 1), fmt::format("to the partner of round {}", axis + 1));
  }

  void write() {
    // Every rank except the root sends its sum once, and the root produces the result.
    for (std::uint32_t part = 0; part < parts_; ++part) {
      terms_.push_back(writer_.make_buffer(Content::payload, Phase::reduce_scatter, tile(part)));
      results_.push_back(writer_.make_buffer(Content::payload, Phase::all_gather, tile(part)));
    }
    for (ChannelId round = 0; round < rounds(); ++round) reduce_round(round);
    for (std::uint32_t part = 0; part < parts_; ++part) {
      encode(Phase::all_gather, results_[part], part, Operand::rounded_sums, kRootOnly);
      deliver(part, kRootOnly);
    }
    for (ChannelId round = rounds(); round-- > 0;) broadcast_round(round);
  }

 private:
  ChannelId rounds() const { return static_cast<ChannelId>(writer_.program().grid().axes()); }

  Tile tile(std::uint32_t part) const {
    return {.minishard = part / cut_.microshards, .microshard = part % cut_.microshards};
  }

  /// Returns the ranks at the far end of a pair along this round's axis that were at the near end
  /// along all previous axes.
  std::vector<Rank> senders(ChannelId round) const {
    const RankGrid& grid = writer_.program().grid();
    std::vector<Rank> found;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      std::uint32_t first_far = 0;
      while (first_far < grid.axes() && grid.coordinate(rank, first_far) == 0) ++first_far;
      if (first_far == round) found.push_back(rank);
    }
    return found;
  }

  Rank partner(Rank rank, ChannelId round) const {
    return writer_.program().grid().move(rank, writer_.program().grid().along(round, 1));
  }

  void reduce_round(ChannelId round) {
    const Operand operand = round == 0 ? Operand::input : Operand::rounded_sums;
    const Offset to_partner = writer_.program().grid().along(round, 1);
    const std::vector<MessageId> messages = make_messages(terms_, round, {});
    for (const Rank sender : senders(round))
      for (std::uint32_t part = 0; part < parts_; ++part) {
        encode(Phase::reduce_scatter, terms_[part], part, operand, only(sender));
        transfer(Op::send, Phase::reduce_scatter, messages[part], sender);
      }
    for (const Rank sender : senders(round))
      for (std::uint32_t part = 0; part < parts_; ++part) {
        const Rank receiver = partner(sender, round);
        transfer(Op::wait, Phase::reduce_scatter, messages[part], receiver);
        writer_.emit({.op = Op::add,
                      .phase = Phase::reduce_scatter,
                      .operand = operand,
                      .tile = tile(part),
                      .buffer = terms_[part],
                      .origin = {.offset = to_partner},
                      .ranks = only(receiver)});
      }
  }

  void broadcast_round(ChannelId round) {
    const std::vector<MessageId> messages = make_messages(results_, round, {.root = true});
    for (const Rank receiver : senders(round))
      for (std::uint32_t part = 0; part < parts_; ++part)
        transfer(Op::send, Phase::all_gather, messages[part], partner(receiver, round));
    for (const Rank receiver : senders(round))
      for (std::uint32_t part = 0; part < parts_; ++part) {
        transfer(Op::wait, Phase::all_gather, messages[part], receiver);
        deliver(part, only(receiver));
      }
  }

  /// Adds one message per part, for all pairs of a round.
  std::vector<MessageId> make_messages(const std::vector<BufferId>& buffers, ChannelId round,
                                       const Origin& origin) {
    std::vector<MessageId> messages;
    for (const BufferId buffer : buffers)
      messages.push_back(writer_.make_message({buffer, round, origin}));
    return messages;
  }

  void transfer(Op op, Phase phase, MessageId message, Rank rank) {
    writer_.emit({.op = op, .phase = phase, .message = message, .ranks = only(rank)});
  }

  void encode(Phase phase, BufferId buffer, std::uint32_t part, Operand operand, RankRange ranks) {
    writer_.encode_into(buffer, phase, tile(part), operand, ranks);
  }

  void deliver(std::uint32_t part, RankRange ranks) {
    writer_.deliver(tile(part), results_[part], {.root = true}, ranks);
  }

  ProgramWriter& writer_;
  std::uint32_t ranks_;
  Cut cut_;
  std::uint32_t parts_;            ///< microshards of all minishards
  std::vector<BufferId> terms_;    ///< by part
  std::vector<BufferId> results_;  ///< by part
};

}  // namespace

Program make_binomial_tree(const RankGrid& grid, std::uint64_t elements,
                           numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  if (grid.ranks() < 2 ||
      std::ranges::any_of(grid.lengths(), [](std::uint32_t length) { return length != 2; }))
    throw std::invalid_argument("a binomial tree needs a power of two of chips");
  if (options.reduce_scatter.scaled || options.all_gather.scaled)
    throw std::invalid_argument("a binomial tree sums codes and cannot use formats with scales");
  CutRule rule = options.cut;
  if (!rule.microshards) rule.microshards = 1;  // as in the original code
  const Cut cut = choose_cut(rule, options.reduce_scatter, elements);
  ProgramWriter writer({Collective::all_reduce,
                        Partition(elements, grid, {{{}, {cut}}}),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  TreeBuilder(writer).write();
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
