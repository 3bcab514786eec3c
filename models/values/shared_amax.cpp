#include "models/values/shared_amax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "base/os/parallel_for.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::values {
namespace {

using collectives::Instruction;
using collectives::Message;
using collectives::Op;
using collectives::Program;
using collectives::Rank;

/// Elements per read.
constexpr std::uint64_t kPiece = 1 << 16;

/// Returns +Inf if any value is a NaN or an Inf.
float amax_of(const numerics::BlockCodec& one_group, std::span<const float> values) {
  float amax = 0.0F;
  one_group.find_amax(values, 0, {&amax, 1});
  return std::isfinite(amax) ? amax : std::numeric_limits<float>::infinity();
}

/// Returns the amax of each rank's whole tensor.
std::vector<float> local_amax(const Program& program, const TensorSource& source,
                              unsigned threads) {
  const std::uint64_t elements = program.partition.elements();
  const std::uint64_t pieces = (elements + kPiece - 1) / kPiece;  // per tensor
  const numerics::BlockCodec one_group({.element = numerics::ElementFormat::int8,
                                        .scaled = true,
                                        .layout = numerics::ScaleLayout::contiguous,
                                        .block = kPiece});
  threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, pieces * program.ranks()));
  std::vector<std::vector<float>> values(std::max(threads, 1U));  // by thread
  std::vector<float> amax(program.ranks());
  std::mutex mutex;
  os::parallel_for(pieces * program.ranks(), threads, [&](std::size_t i, unsigned thread) {
    const auto rank = static_cast<Rank>(i / pieces);
    const std::uint64_t first = i % pieces * kPiece;
    values[thread].resize(std::min(kPiece, elements - first));
    source.read(rank, first, values[thread]);
    const float piece = amax_of(one_group, values[thread]);
    const std::scoped_lock lock(mutex);
    amax[rank] = std::max(amax[rank], piece);
  });
  return amax;
}

/// Runs the exchange of amax values for all ranks in lockstep.
class Exchange {
 public:
  Exchange(const Program& program, std::vector<float> own)
      : program_(program), amax_(std::move(own)), buffers_(program.buffers.size()) {
    result_.sent_bytes.resize(program.channels.size());
    result_.received_bytes.resize(program.channels.size());
  }

  SharedAmax run() {
    for (const Instruction& instruction : program_.instructions)
      if (finds_shared_scale(program_, instruction)) run(instruction);
    result_.amax = amax_.front();
    result_.ranks_identical =
        std::ranges::all_of(amax_, [&](float amax) { return amax == result_.amax; });
    return std::move(result_);
  }

 private:
  void run(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::encode_amax: buffers_[instruction.buffer] = amax_; return;
      case Op::merge_amax:
        for (Rank rank = 0; rank < program_.ranks(); ++rank) {
          const Rank producer = program_.grid().move(rank, instruction.origin.offset);
          amax_[rank] = std::max(amax_[rank], buffers_[instruction.buffer][producer]);
        }
        return;
      case Op::send: return count(result_.sent_bytes, instruction);
      case Op::wait: return count(result_.received_bytes, instruction);
      default: return;
    }
  }

  void count(std::vector<std::uint64_t>& bytes, const Instruction& transfer) const {
    const Message& message = program_.messages[transfer.message];
    bytes[message.channel] +=
        buffers_[message.buffer].size() * sizeof(decltype(buffers_)::value_type::value_type);
  }

  const Program& program_;
  std::vector<float> amax_;                  ///< by rank
  std::vector<std::vector<float>> buffers_;  ///< by buffer and producer
  SharedAmax result_;
};

}  // namespace

SharedAmax share_amax(const Program& program, const TensorSource& source, unsigned threads) {
  return Exchange(program, local_amax(program, source, threads)).run();
}

}  // namespace equarx::values
