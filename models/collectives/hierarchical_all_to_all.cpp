#include "models/collectives/hierarchical_all_to_all.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/minishard_writer.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

/// A shard to send, by its steps along the axes of the first and the second hop.
struct Hops {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

class TwoHops {
 public:
  TwoHops(ProgramWriter& writer, std::size_t first_axis)
      : writer_(writer),
        minishards_(writer),
        grid_(writer.program().grid()),
        first_axis_(first_axis),
        second_axis_(1 - first_axis),
        transfers_(grid_.ranks()) {
    first_channels_ = add_channels(first_axis_);
    second_channels_ = add_channels(second_axis_);
  }

  /// Shards for one place of the first axis leave before shards of the previous place are awaited,
  /// so that both hops are busy.
  void write() {
    const std::uint32_t places = grid_.length(first_axis_);
    send_first(1);
    for (std::uint32_t place = 0; place < places; ++place) {
      if (place != 1) send_first(place);
      if (place == 0) forward(0);
      if (place > 1) forward(place - 1);
    }
    forward(places - 1);
    for (std::uint32_t place = 0; place < places; ++place) receive_forwarded(place);
    keep_own();
  }

 private:
  /// The minishards of a shard, and their messages of both hops.
  struct Transfer {
    std::vector<EncodedMinishard> minishards;
    std::vector<SentMinishard> first;
    std::vector<SentMinishard> second;
  };

  std::vector<ChannelId> add_channels(std::size_t axis) {
    std::vector<ChannelId> channels = {0};  // none to the own place
    for (std::uint32_t steps = 1; steps < grid_.length(axis); ++steps)
      channels.push_back(writer_.add_channel(grid_.along(axis, steps),
                                             fmt::format("{} + {}", name_of(axis), steps)));
    return channels;
  }

  static const char* name_of(std::size_t axis) {
    return axis == kSliceAxis ? "to node" : "within the node to rank";
  }

  Offset offset(const Hops& hops) const {
    return grid_.move(grid_.along(first_axis_, hops.first), grid_.along(second_axis_, hops.second));
  }
  Transfer& transfer(const Hops& hops) { return transfers_[offset(hops)]; }
  Origin sender(const Hops& hops) const { return {.offset = grid_.reverse(offset(hops))}; }

  /// Encodes the shards for a place of the first axis, and sends them unless it is the own place.
  void send_first(std::uint32_t place) {
    for (std::uint32_t i = 0; i < grid_.length(second_axis_); ++i) {
      const Hops hops{place, i};
      if (offset(hops) == 0) continue;
      Transfer& moved = transfer(hops);
      const std::uint32_t count = writer_.program().partition.cut(0).minishards;
      for (std::uint32_t minishard = 0; minishard < count; ++minishard) {
        moved.minishards.push_back(minishards_.encode(
            Phase::reduce_scatter, {.shard_offset = offset(hops), .minishard = minishard},
            Operand::input));
        if (place > 0)
          moved.first.push_back(minishards_.send(moved.minishards.back(), first_channels_[place],
                                                 {}, minishard == 0 && i == 0,
                                                 first_axis_ == kSliceAxis));
      }
    }
  }

  /// Awaits the shards that moved `place` hops, delivers the own one, and sends on the others.
  void forward(std::uint32_t place) {
    for (std::uint32_t i = 0; i < grid_.length(second_axis_); ++i) {
      const Hops hops{place, i};
      Transfer& moved = transfer(hops);
      for (std::size_t number = 0; number < moved.minishards.size(); ++number) {
        if (place > 0) minishards_.wait(moved.first[number]);
        if (i == 0) {
          deliver(moved.minishards[number], hops);
          continue;
        }
        moved.second.push_back(minishards_.send(moved.minishards[number], second_channels_[i],
                                                sender({place, 0}), number == 0 && i == 1,
                                                second_axis_ == kSliceAxis));
      }
    }
  }

  void receive_forwarded(std::uint32_t place) {
    for (std::uint32_t i = 1; i < grid_.length(second_axis_); ++i) {
      const Hops hops{place, i};
      const Transfer& moved = transfer(hops);
      for (std::size_t number = 0; number < moved.minishards.size(); ++number) {
        minishards_.wait(moved.second[number]);
        deliver(moved.minishards[number], hops);
      }
    }
  }

  /// Delivers to the owner of the shard.
  void deliver(const EncodedMinishard& minishard, const Hops& hops) {
    Tile tile = minishard.tile;
    tile.shard_offset = 0;
    minishards_.deliver(minishard, tile, sender(hops));
  }

  void keep_own() {
    const std::uint32_t count = writer_.program().partition.cut(0).minishards;
    for (std::uint32_t minishard = 0; minishard < count; ++minishard) {
      const Tile tile{.minishard = minishard};
      minishards_.deliver(minishards_.encode(Phase::all_gather, tile, Operand::input), tile, {});
    }
  }

  ProgramWriter& writer_;
  MinishardWriter minishards_;
  const RankGrid& grid_;
  std::size_t first_axis_;
  std::size_t second_axis_;
  std::vector<ChannelId> first_channels_;   ///< by hops
  std::vector<ChannelId> second_channels_;  ///< by hops
  std::vector<Transfer> transfers_;         ///< by offset of the receiver
};

}  // namespace

Program make_hierarchical_all_to_all(const RankGrid& grid, std::uint64_t elements,
                                     numerics::ElementFormat tensor_format,
                                     const ExchangeOptions& options, FirstHop first) {
  if (grid.axes() != 2)
    throw std::invalid_argument("a hierarchical AllToAll needs nodes of several ranks");
  const numerics::BlockFormat& format = options.reduce_scatter;
  const Cut cut = choose_cut(in_one_piece(options.cut), format, divide_up(elements, grid.ranks()));
  ProgramWriter writer({Collective::all_to_all,
                        Partition(elements, grid, {{{0, 1}, {cut}}}),
                        tensor_format,
                        {format, {.element = tensor_format}},
                        {},
                        {},
                        {},
                        {}});
  TwoHops(writer, first == FirstHop::between ? kSliceAxis : 1 - kSliceAxis).write();
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
