#include "models/collectives/minishard_writer.hpp"

#include <utility>

namespace equarx::collectives {

EncodedMinishard MinishardWriter::encode(Phase phase, const Tile& tile, Operand operand,
                                         bool scales_found) const {
  EncodedMinishard minishard{tile, {}, {}};
  if (numerics::sends_scales(writer_.program().format(phase))) {
    if (!scales_found) writer_.find_scales(phase, tile, operand, ranks_);
    minishard.scales = writer_.encode_scales(phase, tile, ranks_);
  }
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    minishard.payload.push_back(writer_.encode_payload(phase, at(tile, micro), operand,
                                                       minishard.scales.value_or(0), ranks_));
  });
  return minishard;
}

SentMinishard MinishardWriter::send(const EncodedMinishard& minishard, ChannelId channel,
                                    Origin origin, bool begins, bool first_rows) const {
  const Phase phase = writer_.program().buffers[minishard.payload.front()].phase;
  bool synchronises = begins && writer_.program().format(phase).scaled;
  const auto send_one = [&](BufferId buffer) {
    return writer_.send(phase,
                        {.buffer = buffer,
                         .channel = channel,
                         .origin = origin,
                         .synchronises = std::exchange(synchronises, false),
                         .first_rows = first_rows},
                        ranks_);
  };
  SentMinishard sent;
  if (minishard.scales) sent.scales = send_one(*minishard.scales);
  for (const BufferId payload : minishard.payload) sent.payload.push_back(send_one(payload));
  return sent;
}

void MinishardWriter::wait_for_scales(const SentMinishard& sent) const {
  if (sent.scales) writer_.wait(*sent.scales, ranks_);
}

void MinishardWriter::wait_for_payload(const SentMinishard& sent, std::uint32_t micro) const {
  writer_.wait(sent.payload[micro], ranks_);
}

void MinishardWriter::wait(const SentMinishard& sent) const {
  wait_for_scales(sent);
  for (const MessageId payload : sent.payload) writer_.wait(payload, ranks_);
}

void MinishardWriter::deliver(const EncodedMinishard& minishard, const Tile& tile,
                              Origin origin) const {
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    writer_.deliver(at(tile, micro), minishard.payload[micro], origin, ranks_);
  });
}

}  // namespace equarx::collectives
