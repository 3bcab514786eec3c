#include "models/collectives/quickreduce_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {
namespace {

/// Minishards in flight in each phase: data is awaited this many minishards after it was sent.
constexpr std::uint32_t kInFlight = 2;

ProgramWriter begin(std::uint32_t ranks, std::uint64_t elements,
                    numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  Cut cut = choose_cut(options.cut, options.reduce_scatter, divide_up(elements, ranks));
  // Minishards are the unit of the pipeline, even without scales.
  if (!options.reduce_scatter.scaled && !options.all_gather.scaled)
    std::swap(cut.minishards, cut.microshards);
  if (options.rows > 0)
    cut = {.minishards = options.cut.minishards.value_or(options.rows),
           .microshards = options.cut.microshards.value_or(1)};
  Program program{Collective::all_reduce,
                  Partition(elements, RankGrid({ranks}), {{{0}, {cut}}}),
                  tensor_format,
                  {options.reduce_scatter, options.all_gather},
                  {},
                  {},
                  {},
                  {}};
  ProgramWriter writer(std::move(program));
  writer.use_minishard_streams(minishard_streams(options, cut));
  return writer;
}

class Builder {
 public:
  explicit Builder(ProgramWriter& writer)
      : writer_(writer),
        minishards_(writer),
        ranks_(writer.program().ranks()),
        count_(writer.program().partition.cut(0).minishards),
        terms_(count_),
        sums_(count_) {
    const std::uint32_t streams = writer_.minishard_streams();
    for (std::uint32_t stream = 0; stream < streams; ++stream)
      for (std::uint32_t round = 1; round < ranks_; ++round)
        writer_.add_channel(round, streams == 1
                                       ? fmt::format("to rank + {}", round)
                                       : fmt::format("to rank + {}, stream {}", round, stream));
  }

  /// `in_rows`: every stream completes a minishard before its next.
  void write(bool in_rows) {
    if (in_rows) return write_rows();
    for (std::uint32_t i = 0; i < count_ + 2 * kInFlight; ++i) {
      if (i < count_) send_terms(i);
      if (i >= kInFlight && i - kInFlight < count_) send_sum(i - kInFlight);
      if (i >= 2 * kInFlight) deliver(i - 2 * kInFlight);
    }
  }

 private:
  void write_rows() {
    const std::uint32_t streams = writer_.minishard_streams();
    for (std::uint32_t first = 0; first < count_; first += streams) {
      const std::uint32_t end = std::min(first + streams, count_);
      for (std::uint32_t i = first; i < end; ++i) send_terms(i);
      for (std::uint32_t i = first; i < end; ++i) send_sum(i);
      for (std::uint32_t i = first; i < end; ++i) deliver(i);
    }
  }

  /// A minishard that is sent to all others.
  struct Terms {
    std::vector<EncodedMinishard> encoded;  ///< by round; a single one for sums
    std::vector<SentMinishard> sent;        ///< by round - 1
  };

  void send_terms(std::uint32_t minishard) {
    Terms& terms = terms_[minishard];
    for (std::uint32_t round = 0; round < ranks_; ++round) {
      const Tile tile{.shard_offset = round, .minishard = minishard};
      terms.encoded.push_back(minishards_.encode(Phase::reduce_scatter, tile, Operand::input));
      if (round > 0) send(terms, terms.encoded.back(), round, minishard);
    }
  }

  void send_sum(std::uint32_t minishard) {
    const Terms terms = std::exchange(terms_[minishard], {});
    for (const SentMinishard& sent : terms.sent) minishards_.wait_for_scales(sent);
    const Tile tile{.minishard = minishard};
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      for (const SentMinishard& sent : terms.sent) minishards_.wait_for_payload(sent, micro);
      writer_.emit({.op = Op::reduce_shards,
                    .phase = Phase::reduce_scatter,
                    .operand = Operand::sums,
                    .tile = at(tile, micro),
                    .buffer = terms.encoded.front().payload[micro],
                    .origin = {.offset = 0, .gathered = writer_.program().grid().all_axes()}});
    });
    Terms& sum = sums_[minishard];
    sum.encoded.push_back(minishards_.encode(Phase::all_gather, tile, Operand::sums));
    for (std::uint32_t round = 1; round < ranks_; ++round)
      send(sum, sum.encoded.front(), round, minishard);
  }

  void deliver(std::uint32_t minishard) {
    const Terms sum = std::exchange(sums_[minishard], {});
    for (std::uint32_t round = 1; round < ranks_; ++round) {
      const SentMinishard& sent = sum.sent[round - 1];
      const Origin sender{.offset = ranks_ - round};
      minishards_.wait_for_scales(sent);
      const Tile tile{.shard_offset = sender.offset, .minishard = minishard};
      writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
        minishards_.wait_for_payload(sent, micro);
        writer_.deliver(at(tile, micro), sum.encoded.front().payload[micro], sender);
      });
    }
    minishards_.deliver(sum.encoded.front(), sum.encoded.front().tile, {});
  }

  void send(Terms& terms, const EncodedMinishard& encoded, std::uint32_t round,
            std::uint32_t minishard) {
    const ChannelId first = writer_.stream_of({.minishard = minishard}) * (ranks_ - 1);
    terms.sent.push_back(minishards_.send(encoded, first + round - 1, {}, minishard == 0));
  }

  ProgramWriter& writer_;
  MinishardWriter minishards_;
  std::uint32_t ranks_;
  std::uint32_t count_;
  std::vector<Terms> terms_;  ///< by minishard, until they are summed
  std::vector<Terms> sums_;   ///< by minishard, until they are delivered
};

}  // namespace

Program make_quickreduce(std::uint32_t ranks, std::uint64_t elements,
                         numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  if (ranks < 2) throw std::invalid_argument("an AllReduce needs two ranks");
  ProgramWriter writer = begin(ranks, elements, tensor_format, options);
  Builder(writer).write(options.rows > 0);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
