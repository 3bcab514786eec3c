#include "tests/docs/add_an_algorithm/pass_around.hpp"

#include <array>
#include <utility>
#include <vector>

#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {

Program make_pass_around(const ProgramRequest& request) {
  // One segment that no axis cuts: every rank handles all of it.
  const Cut cut = choose_cut(request.cut, request.reduce_scatter, request.elements);
  ProgramWriter writer({Collective::all_reduce,
                        Partition(request.elements, request.grid, {Segment{{}, {cut}}}),
                        request.dtype,
                        {request.reduce_scatter, request.all_gather},
                        {},
                        {},
                        {},
                        {}});
  const MinishardWriter minishards(writer);
  const ChannelId next = writer.add_channel(1, "to the next rank");

  // Every rank encodes its own tensor once ...
  std::vector<EncodedMinishard> own;
  for (std::uint32_t i = 0; i < cut.minishards; ++i)
    own.push_back(minishards.encode(Phase::reduce_scatter, {.minishard = i}, Operand::input));

  // ... sends it to the next rank, and then forwards, verbatim, each tensor from the previous rank.
  const std::uint32_t ranks = request.grid.ranks();
  for (std::uint32_t step = 0; step + 1 < ranks; ++step) {
    const Origin source{.offset = (ranks - step) % ranks};  // `step` ranks back
    std::vector<SentMinishard> sent;
    for (const EncodedMinishard& minishard : own)
      sent.push_back(minishards.send(minishard, next, source, sent.empty()));
    for (const SentMinishard& minishard : sent) {
      minishards.wait_for_scales(minishard);
      for (std::uint32_t i = 0; i < cut.microshards; ++i) minishards.wait_for_payload(minishard, i);
    }
  }

  // Every rank sums all tensors in the order of ranks, so that all end with the same bits.
  const Origin all{.gathered = request.grid.all_axes()};
  for (const EncodedMinishard& minishard : own)
    writer.for_each_microshard(minishard.tile, [&](std::uint32_t micro) {
      const Tile tile = at(minishard.tile, micro);
      writer.emit({.op = Op::reduce,
                   .operand = Operand::sums,
                   .tile = tile,
                   .buffer = minishard.payload[micro],
                   .origin = all});
      writer.emit({.op = Op::store, .operand = Operand::sums, .tile = tile});
    });
  return std::move(writer).finish();
}

namespace {

constexpr std::array kAllReduce = {Collective::all_reduce};

std::vector<Rounds> rounds_of_pass_around(const ProgramRequest& request) {
  return {{request.grid.ranks() - 1.0, request.elements}};
}

std::uint64_t one_channel(const RankGrid&) { return 1; }

double no_sharing(const RankGrid&) { return 1.0; }

}  // namespace

const AlgorithmInfo kPassAround{.name = "pass-around",
                                .collectives = kAllReduce,
                                .layout = RankLayout::ring,
                                .summation = Summation::everywhere,
                                .has_two_phases = false,
                                .make = make_pass_around,
                                .rounds = rounds_of_pass_around,
                                .channels = one_channel,
                                .sharers = no_sharing};

}  // namespace equarx::collectives
