#include "models/serving/kv_cache.hpp"

#include <algorithm>

#include "models/workloads/footprint.hpp"

namespace equarx::serving {
namespace {

constexpr double kRounding = 1e-9;  // of sums of bytes

}  // namespace

KvCache::KvCache(const workloads::Transformer& model, const workloads::AttentionMethod& method,
                 std::uint32_t chips, std::uint64_t block, double capacity_bytes)
    : window_(model.window), block_(block), capacity_bytes_(capacity_bytes) {
  const auto bytes_of = [&](double positions) {
    return workloads::cache_bytes(model, {1.0, positions, 1.0}, chips, method);
  };
  const auto window = static_cast<double>(model.window);
  everywhere_bytes_ = bytes_of(window + 2.0) - bytes_of(window + 1.0);
  windowed_bytes_ = bytes_of(1.0) - everywhere_bytes_;
}

bool KvCache::has_windows() const { return windowed_bytes_ > kRounding * everywhere_bytes_; }

std::uint64_t KvCache::blocks() const {
  constexpr double kMost = 4294967295.0;
  return static_cast<std::uint64_t>(
      std::min(kMost, capacity_bytes_ / bytes(block_) * (1.0 + kRounding)));
}

double KvCache::bytes(std::uint64_t positions) const {
  const std::uint64_t held = (positions + block_ - 1) / block_ * block_;
  return everywhere_bytes_ * static_cast<double>(held) +
         windowed_bytes_ * static_cast<double>(std::min(held, window_));
}

}  // namespace equarx::serving
