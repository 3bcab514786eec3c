// Stored formats compared with a memory copy. Rates are bytes read plus bytes written per second, of
// FP32 values and packed codes with scales, so the ratio of two rates is the fraction of the copy's
// throughput. The speed of shared machines drifts, so each measurement alternates with a copy of the
// same values on the same threads, and medians of their ratios are reported:
//   of_copy    bytes per second, relative to the copy
//   of_scalar  elements per second, relative to the scalar codec, on one thread
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/os/parallel_for.hpp"
#include "models/checkpoints/weight.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/stored/packed_codec.hpp"
#include "models/stored/scalar_codec.hpp"

namespace {

using namespace equarx;
using stored::Along;
using stored::StoredFormat;

constexpr stored::Shape kShape{4096, 4096};  // 64 MiB of FP32, more than caches hold
constexpr stored::Shape kScalarShape{64, 4096};

struct Named {
  std::string name;
  StoredFormat format;
};

StoredFormat int4(bool symmetric) {
  StoredFormat format;
  format.groups = {Along::row, 128};
  format.scale.type = numerics::ScaleFormat::fp16;
  if (symmetric) return format;
  format.elements.levels = 16;
  format.scale.rule = stored::RangeRule::min_max;
  format.scale.zero_point = stored::ZeroPoint::rounded;
  return format;
}

StoredFormat nf4() {
  StoredFormat format;
  format.elements.kind = stored::ElementKind::table;
  format.elements.table = stored::named_table("nf4").value();
  format.elements.levels = 16;
  format.groups = {Along::tensor, 64};
  return format;
}

const std::vector<Named>& formats() {
  static const std::vector<Named> all = {
      {"int4-g128", int4(true)}, {"int4-g128-zeros", int4(false)}, {"nf4", nf4()}};
  return all;
}

const std::vector<float>& values() {
  static const std::vector<float> all = [] {
    std::vector<float> normals(kShape.elements());
    numerics::generate({}, 0, 0, normals);
    return normals;
  }();
  return all;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

class Copy {
 public:
  explicit Copy(unsigned threads) : threads_(threads), to_(values().size()) {}

  void run() {
    os::parallel_for(values().size() / kPiece, threads_, [&](std::size_t i, unsigned) {
      std::memcpy(to_.data() + i * kPiece, values().data() + i * kPiece, kPiece * sizeof(float));
    });
    benchmark::ClobberMemory();
  }
  static double bytes() { return 2.0 * static_cast<double>(values().size() * sizeof(float)); }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  unsigned threads_;
  std::vector<float> to_;
};

double packed_size(const stored::Packed& packed) {
  return static_cast<double>(packed.codes.size() + 2 * packed.scales.size() +
                             packed.zero_points.size() / 2);
}

/// Alternates `work`, which handles `bytes`, with copies.
void measure(benchmark::State& state, unsigned threads, double bytes,
             const std::function<void()>& work) {
  Copy copy(threads);
  copy.run();
  work();
  std::vector<double> ratios;
  for (auto _ : state) {
    const double time = seconds_of(work);
    state.SetIterationTime(time);
    const double copying = seconds_of([&] { copy.run(); });
    ratios.push_back(bytes / time / (Copy::bytes() / copying));
  }
  state.SetBytesProcessed(
      static_cast<std::int64_t>(static_cast<double>(state.iterations()) * bytes));
  state.counters["of_copy"] = median(ratios);
}

double scalar_seconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) times.push_back(seconds_of(work));
  return median(times) / static_cast<double>(kScalarShape.elements());
}

void encode(benchmark::State& state, const StoredFormat& format, unsigned threads) {
  const std::span<const float> part(values().data(), kScalarShape.elements());
  const double scalar =
      scalar_seconds([&] { stored::encode_scalar(format, kScalarShape, part, {}); });
  stored::Packed packed = stored::encode_packed(format, kShape, values(), threads);
  const double bytes = static_cast<double>(values().size() * sizeof(float)) + packed_size(packed);
  std::vector<double> times;
  measure(state, threads, bytes, [&] {
    times.push_back(
        seconds_of([&] { stored::encode_packed(format, kShape, values(), packed, threads); }));
  });
  if (threads == 1)
    state.counters["of_scalar"] = scalar * static_cast<double>(values().size()) / median(times);
}

void decode(benchmark::State& state, const StoredFormat& format, unsigned threads) {
  const std::span<const float> part(values().data(), kScalarShape.elements());
  const stored::Encoded encoded = stored::encode_scalar(format, kScalarShape, part, {});
  const double scalar = scalar_seconds([&] { stored::decode_scalar(format, encoded); });
  const stored::Packed packed = stored::encode_packed(format, kShape, values(), threads);
  std::vector<float> decoded(values().size());
  const double bytes = static_cast<double>(values().size() * sizeof(float)) + packed_size(packed);
  std::vector<double> times;
  measure(state, threads, bytes, [&] {
    times.push_back(seconds_of([&] { stored::decode_packed(format, packed, decoded, threads); }));
  });
  if (threads == 1)
    state.counters["of_scalar"] = scalar * static_cast<double>(values().size()) / median(times);
}

/// Encoding to the words of GPTQ's qweight, or decoding from them.
void gptq(benchmark::State& state, bool encodes, unsigned threads) {
  const StoredFormat format = int4(false);
  stored::Packed packed = stored::encode_packed(format, kShape, values(), threads);
  checkpoints::Words words = transposed(checkpoints::weight_of(format, packed).words);
  std::vector<float> decoded(values().size());
  const double bytes = static_cast<double>(values().size() * sizeof(float)) + packed_size(packed);
  measure(state, threads, bytes, [&] {
    if (encodes) {
      stored::encode_packed(format, kShape, values(), packed, threads);
      words = transposed(checkpoints::weight_of(format, packed).words);
    } else {
      const checkpoints::Words rows = transposed(words);
      std::memcpy(packed.codes.data(), rows.data.data(), packed.codes.size());
      stored::decode_packed(format, packed, decoded, threads);
    }
  });
}

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(15);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  for (const unsigned threads : {1U, all}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    for (const Named& one : formats()) {
      add("encode/" + one.name + suffix,
          [&one, threads](benchmark::State& state) { encode(state, one.format, threads); });
      add("decode/" + one.name + suffix,
          [&one, threads](benchmark::State& state) { decode(state, one.format, threads); });
    }
    for (const bool encodes : {true, false})
      add((encodes ? "encode/gptq" : "decode/gptq") + suffix,
          [=](benchmark::State& state) { gptq(state, encodes, threads); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
