#include "importers/msccl/msccl_format.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/nearest.hpp"
#include "importers/msccl/memories.hpp"
#include "importers/msccl/values.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/inputs/inputs.hpp"

namespace equarx::imports {
namespace {

using schedules::Collective;
using schedules::Memory;
using schedules::Schedule;
using schedules::Tensors;

constexpr std::uint64_t kElementBytes = 4;  // FP32
/// Limit of computed values over all buffers: 128 MiB.
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 25U;

/// Encodes and decodes slices of a message.
class Transmitter {
 public:
  Transmitter(const numerics::BlockFormat& format, const schedules::Runtime& runtime)
      : codec_(format), runtime_(runtime) {}

  void transmit(std::span<float> values) {
    for (const std::uint64_t bytes : runtime_.slices(values.size() * kElementBytes)) {
      const std::size_t elements = bytes / kElementBytes;
      round_trip(values.first(elements));
      values = values.subspan(elements);
    }
  }

 private:
  void round_trip(std::span<float> values) {
    const numerics::BlockFormat& format = codec_.format();
    const std::size_t groups = numerics::scale_count(format, values.size());
    std::vector<float> amax(groups);
    std::vector<float> scales(groups);
    std::vector<std::byte> encoded_scales(numerics::scales_bytes(format, groups));
    std::vector<std::byte> payload(numerics::payload_bytes(format, values.size()));
    if (format.scaled) {
      codec_.find_amax(values, 0, amax);
      codec_.encode_scales(amax, encoded_scales);
      codec_.decode_scales(encoded_scales, scales);
    }
    codec_.quantize(values, 0, scales, payload);
    codec_.dequantize(payload, 0, scales, values);
  }

  numerics::BlockCodec codec_;
  const schedules::Runtime& runtime_;
};

Tensors normal_inputs(const Schedule& schedule, std::size_t elements) {
  Tensors tensors{.elements = elements, .inputs = {}, .outputs = {}};
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<float>& input = tensors.inputs.emplace_back(
        schedules::memory_chunks(schedule, rank, Memory::input) * elements);
    numerics::generate({}, rank, 0, input);
  }
  return tensors;
}

numerics::ErrorMetrics compare(const Schedule& schedule, const Tensors& tensors) {
  numerics::ErrorAccumulator errors;
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    if (!schedules::has_result(schedule, rank)) continue;
    std::vector<double> exact_values;
    for (std::uint32_t chunk = 0; chunk < schedules::memory_chunks(schedule, rank, Memory::output);
         ++chunk)
      for (std::size_t element = 0; element < tensors.elements; ++element)
        exact_values.push_back(schedules::exact(schedule, tensors, rank, chunk, element));
    errors.add(tensors.outputs[rank], exact_values);
  }
  return errors.metrics();
}

bool is_replicated(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::all_gather ||
         collective == Collective::broadcast;
}

}  // namespace

numerics::BlockFormat read_message_format(const std::string& name) {
  std::vector<std::string_view> names;
  for (const numerics::NamedFormat& known : numerics::named_formats()) {
    const bool possible = !numerics::has_shared_scale(known.format) &&
                          !numerics::adds_by_code(known.format) &&
                          known.format.rounding == numerics::Rounding::nearest;
    if (known.name == name && !possible)
      throw input::InputError(
          "", fmt::format("--format: '{}' needs a scale shared by all ranks, or random bits, "
                          "which schedules do not support; use another format",
                          name));
    if (known.name == name) return known.format;
    if (possible) names.push_back(known.name);
  }
  throw input::InputError(
      "", fmt::format("--format: '{}' is unknown; use one of {}", name, input::list_of(names)));
}

std::uint64_t encoded_bytes(const numerics::BlockFormat& format, std::uint64_t bytes) {
  const std::size_t elements = bytes / kElementBytes;
  return numerics::payload_bytes(format, elements) +
         numerics::scales_bytes(format, numerics::scale_count(format, elements));
}

MscclAccuracy error_of(const MscclSchedule& checked, const schedules::Runtime& runtime,
                       const numerics::BlockFormat& format) {
  const Schedule& schedule = checked.schedule;
  if (schedule.collective == Collective::custom)
    throw input::InputError(
        "",
        "--format: the exact result of a custom collective is unknown, so its error cannot "
        "be computed; drop --format");
  const bool in_place = schedule.in_place;
  const std::uint64_t chunks = schedules::Memories(schedule, in_place).size();
  const std::size_t elements = std::clamp<std::uint64_t>(
      kMaxValues / std::max<std::uint64_t>(chunks, 1), 1, runtime.loop_bytes(0) / kElementBytes);
  Tensors tensors = normal_inputs(schedule, elements);
  Transmitter transmitter(format, runtime);
  schedules::run_values(
      schedule, checked.queues, in_place, runtime.cut().chunks_at_once,
      [&](std::span<float> values) { transmitter.transmit(values); }, tensors);
  MscclAccuracy error{
      .metrics = compare(schedule, tensors), .ranks_identical = true, .elements = elements};
  if (is_replicated(schedule.collective))
    for (const std::vector<float>& output : tensors.outputs)
      error.ranks_identical = error.ranks_identical && output == tensors.outputs.front();
  return error;
}

}  // namespace equarx::imports
