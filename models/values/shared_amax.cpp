#include "models/values/shared_amax.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "models/numerics/codec/block_codec.hpp"
#include "models/os/threads.hpp"

namespace equarx::values {
namespace {

using collectives::Instruction;
using collectives::Message;
using collectives::Op;
using collectives::Program;
using collectives::Rank;

/// Elements that are looked at together.
constexpr std::uint64_t kPiece = 1 << 16;

/// What is not finite counts as Inf.
float amax_of(const numerics::BlockCodec& one_group, std::span<const float> values) {
  float amax = 0.0F;
  one_group.find_amax(values, 0, {&amax, 1});
  return std::isfinite(amax) ? amax : std::numeric_limits<float>::infinity();
}

/// Of each rank's tensor, whole: found by pieces, which threads take as they come.
class OwnAmax {
 public:
  OwnAmax(const Program& program, const TensorSource& source)
      : source_(source),
        elements_(program.partition.elements()),
        pieces_((elements_ + kPiece - 1) / kPiece),
        found_(program.ranks()) {}

  std::vector<float> find(unsigned threads) {
    {
      std::vector<std::jthread> others;
      os::add_threads(others, std::max(threads, 1U) - 1, [this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return found_;
  }

 private:
  void work() {
    try {
      const numerics::BlockCodec one_group({.element = numerics::ElementFormat::int8,
                                            .scaled = true,
                                            .layout = numerics::ScaleLayout::contiguous,
                                            .block = kPiece});
      std::vector<float> values;
      for (std::uint64_t i = next_++; i < pieces_ * found_.size(); i = next_++) {
        const auto rank = static_cast<Rank>(i / pieces_);
        const std::uint64_t first = i % pieces_ * kPiece;
        values.resize(std::min(kPiece, elements_ - first));
        source_.read(rank, first, values);
        const float amax = amax_of(one_group, values);
        const std::scoped_lock lock(mutex_);
        found_[rank] = std::max(found_[rank], amax);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      next_ = pieces_ * found_.size();
    }
  }

  const TensorSource& source_;
  std::uint64_t elements_;
  std::uint64_t pieces_;  ///< of a tensor
  std::vector<float> found_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// The exchange, on all ranks in lockstep.
class Exchange {
 public:
  Exchange(const Program& program, std::vector<float> own)
      : program_(program), known_(std::move(own)), buffers_(program.buffers.size()) {
    result_.sent_bytes.resize(program.channels.size());
    result_.received_bytes.resize(program.channels.size());
  }

  SharedAmax run() {
    for (const Instruction& instruction : program_.instructions)
      if (finds_shared_scale(program_, instruction)) run(instruction);
    result_.amax = known_.front();
    result_.ranks_identical =
        std::ranges::all_of(known_, [&](float amax) { return amax == result_.amax; });
    return std::move(result_);
  }

 private:
  void run(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::encode_amax: buffers_[instruction.buffer] = known_; return;
      case Op::merge_amax:
        for (Rank rank = 0; rank < program_.ranks(); ++rank) {
          const Rank maker = program_.grid().move(rank, instruction.origin.offset);
          known_[rank] = std::max(known_[rank], buffers_[instruction.buffer][maker]);
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
  std::vector<float> known_;                 ///< by rank
  std::vector<std::vector<float>> buffers_;  ///< by buffer and maker
  SharedAmax result_;
};

}  // namespace

SharedAmax share_amax(const Program& program, const TensorSource& source, unsigned threads) {
  return Exchange(program, OwnAmax(program, source).find(threads)).run();
}

}  // namespace equarx::values
