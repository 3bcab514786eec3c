// Kernels compared with a memory copy, and every format compared with int8. Rates are bytes read
// plus bytes written per second, so the ratio of two rates is the fraction of the copy's throughput
// that a kernel reaches. Tiles fit in a 1 MiB L2 cache and are aligned to cache lines, as in the
// program.
//
// The speed of shared machines drifts by a third within minutes, so each measurement of a hop
// alternates with a copy of the same size and an int8 hop, and the medians of their ratios are
// reported:
//   of_copy  bytes per second, relative to the copy
//   of_int8  elements per second, relative to the int8 hop
// --target=AVX2, or another of Highway's target names, excludes newer instruction sets.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/bfloat16_spans.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/numerics/inputs/inputs.hpp"

namespace {

using namespace equarx::numerics;

constexpr std::size_t kMinishard = 64 * 1024;  // elements: 64 per strided scale

AlignedVector<float> normals(std::size_t count) {
  AlignedVector<float> values(count);
  generate({}, 0, 0, values);
  return values;
}

void report(benchmark::State& state, std::size_t bytes, std::size_t elements) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["ns/element"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(elements) * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Reads and writes `bytes` in total, in two passes over a tile half that size, so that source and
/// destination fit in the cache together.
///
/// Alignment matters: glibc copies tiles of this size with `rep movsb`, which is twenty times
/// slower on some CPUs if the destination is a few bytes after the source modulo a page, as with
/// two heap blocks (16 bytes). Both therefore share one block, half a page apart modulo a page.
class Copy {
 public:
  explicit Copy(std::size_t bytes)
      : size_(bytes / 2 / kPasses), to_((size_ / kPage + 1) * kPage + kPage / 2) {
    block_ = hwy::AllocateAligned<std::byte>(to_ + size_ + kPage);
    std::memset(block_.get(), 1, to_ + size_ + kPage);
    const auto address = reinterpret_cast<std::uintptr_t>(block_.get());
    from_ = (kPage - address % kPage) % kPage;
  }

  void run() {
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
      std::memcpy(block_.get() + from_ + to_, block_.get() + from_, size_);
      benchmark::ClobberMemory();
    }
  }

 private:
  static constexpr std::size_t kPasses = 2;
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  std::size_t from_ = 0;
  std::size_t to_;  ///< offset from the source
  hwy::AlignedFreeUniquePtr<std::byte[]> block_;
};

// Values of a rank. For formats with a shared scale, here with headroom for two ranks, these are
// codes.
AlignedVector<float> local_values(const BlockFormat& format) {
  AlignedVector<float> values = normals(kMinishard);
  if (!has_shared_scale(format)) return values;
  float amax = 0.0F;
  for (const float value : values) amax = std::max(amax, std::abs(value));
  SharedScale(format, amax, 2).encode(values, RoundingKey{});
  return values;
}

// One rank's side of a hop. Received values are alternately added and subtracted to bound the sums.
class Hop {
 public:
  explicit Hop(const BlockFormat& format)
      : codec_(format),
        sums_(local_values(format)),
        amax_(scale_count(format, kMinishard)),
        scales_(amax_.size()),
        wire_scales_(scales_bytes(format, amax_.size())),
        payload_(payload_bytes(format, kMinishard)) {
    if (format.rounding == Rounding::stochastic) key_ = RoundingKey{};
    std::ranges::fill(amax_, 0.0F);
    codec_.find_amax(sums_, 0, amax_);
    send();
    arrived_[0] = payload_;
    for (float& sum : sums_) sum = -sum;
    send();
    arrived_[1] = payload_;
    for (float& sum : sums_) sum = -sum;
    arrived_scales_ = scales_;
  }

  /// Bytes read and written by a hop: payload, sums twice and payload; without scales.
  std::size_t bytes() const { return 2 * payload_.size() + 3 * kMinishard * sizeof(float); }

  void run() {
    receive();
    send();
  }

  void receive() {
    std::memset(amax_.data(), 0, amax_.size() * sizeof(float));
    const AlignedVector<std::byte>& payload = arrived_[turn_++ % arrived_.size()];
    if (adds_by_code(codec_.format()))
      exponents::add(payload, sums_, RoundingKey{});
    else
      codec_.dequantize_add_amax(payload, 0, arrived_scales_, sums_, sums_, amax_);
    benchmark::ClobberMemory();
  }

  void send() {
    codec_.encode_scales(amax_, wire_scales_);
    codec_.decode_scales(wire_scales_, scales_);
    codec_.quantize(sums_, 0, scales_, payload_, key_);
    benchmark::ClobberMemory();
  }

  QuantizeCounts count() const { return codec_.count(sums_, 0, scales_, key_); }

 private:
  BlockCodec codec_;
  AlignedVector<float> sums_, amax_, scales_, arrived_scales_;
  AlignedVector<std::byte> wire_scales_, payload_;
  std::array<AlignedVector<std::byte>, 2> arrived_;
  std::optional<RoundingKey> key_;
  std::size_t turn_ = 0;
};

constexpr BlockFormat kInt8{.element = ElementFormat::int8, .scaled = true};

// Average seconds per call, after a first call that warms the cache.
template <class Work>
double seconds(Work& work) {
  constexpr int kCalls = 16;
  using Clock = std::chrono::steady_clock;
  work.run();
  const Clock::time_point start = Clock::now();
  for (int call = 0; call < kCalls; ++call) work.run();
  return std::chrono::duration<double>(Clock::now() - start).count() / kCalls;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Measures time manually, as each iteration also runs the hop's baselines.
void hop(benchmark::State& state, const BlockFormat& format) {
  Hop own(format);
  Hop int8(kInt8);
  Copy copy(own.bytes());
  std::vector<double> of_copy;
  std::vector<double> of_int8;
  for (auto _ : state) {
    const double copied = seconds(copy);
    const double hopped = seconds(own);
    const double as_int8 = seconds(int8);
    of_copy.push_back(copied / hopped);
    of_int8.push_back(as_int8 / hopped);
    state.SetIterationTime(hopped);
  }
  report(state, own.bytes(), kMinishard);
  state.counters["of_copy"] = median(of_copy);
  state.counters["of_int8"] = median(of_int8);
}

BlockFormat plain(ElementFormat element) { return {.element = element}; }
BlockFormat stochastic(ElementFormat element) {
  return {.element = element, .scaled = true, .rounding = Rounding::stochastic};
}
BlockFormat contiguous(ElementFormat element) {
  return {element, true, ScaleFormat::fp32, ScaleLayout::contiguous, 128};
}

void add_hop(const std::string& label, const BlockFormat& format) {
  benchmark::RegisterBenchmark(("hop/" + label).c_str(), [format](benchmark::State& state) {
    hop(state, format);
  })->UseManualTime();
}

void add_hops() {
  for (const NamedFormat& named : named_formats()) add_hop(std::string(named.name), named.format);
  add_hop("int8 in blocks of 128", contiguous(ElementFormat::int8));
  add_hop("int8 stochastic", stochastic(ElementFormat::int8));
  add_hop("fp8-e4m3 stochastic", stochastic(ElementFormat::fp8_e4m3));
  add_hop("fp8-e5m2 stochastic", stochastic(ElementFormat::fp8_e5m2));
  add_hop("fp8-e4m3 without scales", plain(ElementFormat::fp8_e4m3));
}

void copy_as_hop(benchmark::State& state) {
  const std::size_t bytes = Hop(kInt8).bytes();
  Copy copy(bytes);
  for (auto _ : state) copy.run();
  report(state, bytes, kMinishard);
}
BENCHMARK(copy_as_hop);

void receive_int8(benchmark::State& state) {
  Hop hop(kInt8);
  for (auto _ : state) hop.receive();
  report(state, kMinishard * (1 + 4 + 4), kMinishard);
}
BENCHMARK(receive_int8);

void send_int8(benchmark::State& state) {
  Hop hop(kInt8);
  hop.receive();
  for (auto _ : state) hop.send();
  report(state, kMinishard * (4 + 1), kMinishard);
}
BENCHMARK(send_int8);

constexpr std::size_t kBf16Bytes = kMinishard * (4 + 2);
void copy_as_bf16(benchmark::State& state) {
  Copy copy(kBf16Bytes);
  for (auto _ : state) copy.run();
  report(state, kBf16Bytes, kMinishard);
}
BENCHMARK(copy_as_bf16);

void bf16_encode(benchmark::State& state) {
  const AlignedVector<float> values = normals(kMinishard);
  AlignedVector<std::uint16_t> codes(kMinishard);
  for (auto _ : state) {
    encode_bf16(values, codes);
    benchmark::ClobberMemory();
  }
  report(state, kBf16Bytes, kMinishard);
}
BENCHMARK(bf16_encode);

void bf16_decode(benchmark::State& state) {
  const AlignedVector<std::uint16_t> codes(kMinishard, 0x3f80);
  AlignedVector<float> values(kMinishard);
  for (auto _ : state) {
    decode_bf16(codes, values);
    benchmark::ClobberMemory();
  }
  report(state, kBf16Bytes, kMinishard);
}
BENCHMARK(bf16_decode);

void count(benchmark::State& state, const BlockFormat& format) {
  const Hop hop(format);
  for (auto _ : state) benchmark::DoNotOptimize(hop.count());
  report(state, kMinishard * 4, kMinishard);
}
BENCHMARK_CAPTURE(count, int8, kInt8);
BENCHMARK_CAPTURE(count, fp8_e4m3, {.element = ElementFormat::fp8_e4m3, .scaled = true});

void generate_values(benchmark::State& state, Distribution distribution) {
  AlignedVector<float> values(kMinishard);
  for (auto _ : state) {
    generate({.distribution = distribution}, 0, 0, values);
    benchmark::ClobberMemory();
  }
  report(state, kMinishard * 4, kMinishard);
}
BENCHMARK_CAPTURE(generate_values, normal, Distribution::normal);
BENCHMARK_CAPTURE(generate_values, uniform, Distribution::uniform);
BENCHMARK_CAPTURE(generate_values, heavy_tailed, Distribution::heavy_tailed);

/// Rows of 64 columns, as parts of strided groups read them: a quarter of each block.
void generate_columns(benchmark::State& state) {
  constexpr std::uint64_t kColumns = 64;
  AlignedVector<float> values(kMinishard / 16);
  for (auto _ : state) {
    for (std::uint64_t at = 0; at < values.size(); at += kColumns)
      generate({}, 0, at / kColumns * kRegisterElements, std::span(values).subspan(at, kColumns));
    benchmark::ClobberMemory();
  }
  report(state, static_cast<std::int64_t>(values.size()) * 4,
         static_cast<std::int64_t>(values.size()));
}
BENCHMARK(generate_columns);

/// Disables targets newer than the named one; newer targets have lower bits. Returns false if this
/// machine does not support the named target.
bool limit_targets(std::string_view name) {
  std::int64_t newer = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (hwy::TargetName(target) == name) {
      hwy::DisableTargets(newer);
      return true;
    }
    newer |= target;
  }
  return false;
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr std::string_view kTarget = "--target=";
  char** const end = arguments + argument_count;
  char** const target =
      std::find_if(arguments + 1, end, [&](std::string_view a) { return a.starts_with(kTarget); });
  if (target != end) {
    if (!limit_targets(std::string_view(*target).substr(kTarget.size()))) {
      std::fprintf(stderr, "this machine does not have %s\n", *target);
      return 1;
    }
    std::rotate(target, target + 1, end);
    --argument_count;
  }
  add_hops();
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
