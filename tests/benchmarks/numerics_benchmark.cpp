// Kernels against memcpy. All rates are bytes read plus bytes written per second, so that a ratio of
// two rates says what part of the speed of memory a kernel reaches. Tiles fit in a 1 MiB second-level
// cache.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/numerics/codec/bfloat16_spans.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/inputs/inputs.hpp"

namespace {

using namespace equarx::numerics;

constexpr std::size_t kMinishard = 64 * 1024;  // elements: 64 for each strided scale

std::vector<float> normals(std::size_t count) {
  std::vector<float> values(count);
  generate({}, 0, 0, values);
  return values;
}

void report(benchmark::State& state, std::size_t bytes, std::size_t elements) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["ns/element"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(elements) * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// What one hop of a minishard reads and writes: payload, sums and again payload, sums read twice.
constexpr std::size_t kHopBytes = kMinishard * (1 + 4 + 4 + 4 + 1);

// Reads and writes `bytes` in all, in two passes over a tile half as large, so that source and
// destination fit in the cache beside each other.
void copy(benchmark::State& state, std::size_t bytes) {
  constexpr int kPasses = 2;
  const std::vector<std::byte> from(bytes / 2 / kPasses, std::byte{1});
  std::vector<std::byte> to(from.size());
  for (auto _ : state) {
    for (int pass = 0; pass < kPasses; ++pass) {
      std::memcpy(to.data(), from.data(), from.size());
      benchmark::ClobberMemory();
    }
  }
  report(state, bytes, kMinishard);
}
void memcpy_as_hop(benchmark::State& state) { copy(state, kHopBytes); }
BENCHMARK(memcpy_as_hop);

// One rank's side of a hop. What arrives is added, and the next time subtracted, so that sums stay as
// they are.
class Hop {
 public:
  explicit Hop(const BlockFormat& format)
      : codec_(format),
        sums_(normals(kMinishard)),
        absmax_(scale_count(format, kMinishard)),
        scales_(absmax_.size()),
        wire_scales_(absmax_.size() * scale_bytes(format.scale)),
        payload_(payload_bytes(format, kMinishard)) {
    codec_.find_absmax(sums_, 0, absmax_);
    send();
    arrived_[0] = payload_;
    for (float& sum : sums_) sum = -sum;
    send();
    arrived_[1] = payload_;
    arrived_scales_ = scales_;
  }

  void receive(std::size_t turn) {
    std::memset(absmax_.data(), 0, absmax_.size() * sizeof(float));
    codec_.dequantize_add_absmax(arrived_[turn % arrived_.size()], 0, arrived_scales_, sums_, sums_,
                                 absmax_);
  }

  void send() {
    codec_.encode_scales(absmax_, wire_scales_);
    codec_.decode_scales(wire_scales_, scales_);
    codec_.quantize(sums_, 0, scales_, payload_);
  }

  QuantizeCounts count() const { return codec_.count(sums_, 0, scales_); }

 private:
  BlockCodec codec_;
  std::vector<float> sums_, absmax_, scales_, arrived_scales_;
  std::vector<std::byte> wire_scales_, payload_;
  std::array<std::vector<std::byte>, 2> arrived_;
};

void hop(benchmark::State& state, const BlockFormat& format) {
  Hop hop(format);
  std::size_t turn = 0;
  for (auto _ : state) {
    hop.receive(turn++);
    hop.send();
    benchmark::ClobberMemory();
  }
  report(state, kHopBytes, kMinishard);
}

BlockFormat strided(ElementFormat element) { return {.element = element, .scaled = true}; }
BlockFormat contiguous(ElementFormat element) {
  return {element, true, ScaleFormat::fp32, ScaleLayout::contiguous, 128};
}

BENCHMARK_CAPTURE(hop, int8 strided, strided(ElementFormat::int8));
BENCHMARK_CAPTURE(hop, int8 blocks of 128, contiguous(ElementFormat::int8));
BENCHMARK_CAPTURE(hop, fp8 - e4m3 strided, strided(ElementFormat::fp8_e4m3));
BENCHMARK_CAPTURE(hop, int4 strided, strided(ElementFormat::int4));

void receive_int8(benchmark::State& state) {
  Hop hop(strided(ElementFormat::int8));
  std::size_t turn = 0;
  for (auto _ : state) {
    hop.receive(turn++);
    benchmark::ClobberMemory();
  }
  report(state, kMinishard * (1 + 4 + 4), kMinishard);
}
BENCHMARK(receive_int8);

void send_int8(benchmark::State& state) {
  Hop hop(strided(ElementFormat::int8));
  hop.receive(0);
  for (auto _ : state) {
    hop.send();
    benchmark::ClobberMemory();
  }
  report(state, kMinishard * (4 + 1), kMinishard);
}
BENCHMARK(send_int8);

constexpr std::size_t kBf16Bytes = kMinishard * (4 + 2);
void memcpy_as_bf16(benchmark::State& state) { copy(state, kBf16Bytes); }
BENCHMARK(memcpy_as_bf16);

void bf16_encode(benchmark::State& state) {
  const std::vector<float> values = normals(kMinishard);
  std::vector<std::uint16_t> codes(kMinishard);
  for (auto _ : state) {
    encode_bf16(values, codes);
    benchmark::ClobberMemory();
  }
  report(state, kBf16Bytes, kMinishard);
}
BENCHMARK(bf16_encode);

void bf16_decode(benchmark::State& state) {
  const std::vector<std::uint16_t> codes(kMinishard, 0x3f80);
  std::vector<float> values(kMinishard);
  for (auto _ : state) {
    decode_bf16(codes, values);
    benchmark::ClobberMemory();
  }
  report(state, kBf16Bytes, kMinishard);
}
BENCHMARK(bf16_decode);

void count_int8(benchmark::State& state) {
  const Hop hop(strided(ElementFormat::int8));
  for (auto _ : state) benchmark::DoNotOptimize(hop.count());
  report(state, kMinishard * 4, kMinishard);
}
BENCHMARK(count_int8);

void generate_normal(benchmark::State& state) {
  std::vector<float> values(kMinishard);
  for (auto _ : state) {
    generate({}, 0, 0, values);
    benchmark::ClobberMemory();
  }
  report(state, kMinishard * 4, kMinishard);
}
BENCHMARK(generate_normal);

}  // namespace

BENCHMARK_MAIN();
