#include "models/values/unit_traffic.hpp"

#include <algorithm>
#include <climits>

namespace equarx::values {

using collectives::Instruction;
using collectives::Op;
using collectives::Rank;
using collectives::RankRange;

UnitTraffic::UnitTraffic(const UnitGeometry& geometry, EncodedBuffers& buffers)
    : geometry_(geometry),
      buffers_(buffers),
      sent_(geometry.program().channels.size()),
      received_(geometry.program().channels.size()) {}

void UnitTraffic::start() {
  std::ranges::fill(sent_, 0);
  std::ranges::fill(received_, 0);
}

void UnitTraffic::count(const Instruction& transfer) {
  const collectives::Program& program = geometry_.program();
  const collectives::Message& message = program.messages[transfer.message];
  std::uint64_t& bytes = (transfer.op == Op::send ? sent_ : received_)[message.channel];
  const Rank last = std::min(transfer.ranks.last, program.ranks() - 1);
  if (message.first_rows && program.counts) {
    geometry_.for_each_tile(
        program.buffers[message.buffer].tile, {}, [&](const RankTile& producer) {
          const Rank sender =
              program.grid().move(producer.rank, program.grid().reverse(message.origin.offset));
          bytes += program.message_bytes(transfer.message, sender);
        });
  } else if (message.origin.root) {
    bytes += (last - transfer.ranks.first + 1) * bytes_of(message, {0, 0});
  } else if (transfer.ranks == RankRange{}) {
    bytes += program.grid().span(message.origin.gathered) * bytes_of(message, {});
    geometry_.for_each_tile(program.buffers[message.buffer].tile, {}, [&](const RankTile& tile) {
      if (tile.begins_tile) bytes += message.extra_bytes;
    });
  } else {  // a subset of ranks: the bytes that each of them sends or receives
    const collectives::Origin origin =
        transfer.op == Op::send ? message.origin : program.received(message);
    for (Rank rank = transfer.ranks.first; rank <= last; ++rank) {
      const Rank producer = geometry_.producer_of(origin, rank);
      bytes += bytes_of(message, {producer, producer});
    }
  }
}

std::uint64_t UnitTraffic::bytes_of(const collectives::Message& message, RankRange producers) {
  std::uint64_t bytes = 0;
  const collectives::Program& program = geometry_.program();
  const collectives::Buffer& buffer = program.buffers[message.buffer];
  const numerics::BlockFormat& format = program.format(buffer.phase);
  // Held decoded, at another size than on the wire.
  const bool is_own = format.rule == numerics::ScaleRule::own;
  // Columns of a piece may end within a byte; the unit with its first element counts all of them.
  const bool has_parts_of_bytes = !geometry_.has_all_columns() &&
                                  buffer.content == collectives::Content::payload &&
                                  numerics::element_bits(format.element) % CHAR_BIT != 0;
  geometry_.for_each_tile(
      buffer.tile, producers,
      [&](const RankTile& producer) {
        if (has_parts_of_bytes && !producer.begins_tile) return;
        bytes += is_own || has_parts_of_bytes
                     ? program.buffer_bytes(message.buffer, producer.rank)
                     : buffers_.at(message.buffer, producer.rank).bytes.size();
      },
      buffer.content == collectives::Content::scales ? Extent::minishard : Extent::microshard);
  return bytes;
}

}  // namespace equarx::values
