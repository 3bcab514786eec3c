// Small rings shared by tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "models/collectives/ring_program.hpp"

namespace equarx::testing {

inline constexpr std::initializer_list<collectives::RingStyle> kStyles = {
    collectives::RingStyle::full_loop, collectives::RingStyle::semi_loop};

/// A tensor partitioned for one ring, every segment alike; not cut among ranks if there is only
/// one.
inline collectives::Partition ring_partition(std::uint64_t elements, std::uint32_t ranks,
                                             std::uint32_t segments, std::uint32_t minishards,
                                             std::uint32_t microshards) {
  const std::vector<std::size_t> axes(ranks == 1 ? 0 : 1, 0);
  return {elements, collectives::RankGrid({ranks == 1 ? 2 : ranks}),
          std::vector<collectives::Segment>(
              segments, collectives::Segment{axes, {{minishards, microshards}}})};
}

/// An AllReduce on one ring, as used by most tests.
inline collectives::Program make_ring_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                                 numerics::ElementFormat tensor_format,
                                                 const collectives::RingOptions& options) {
  return collectives::make_ring_program(collectives::RankGrid({ranks}), elements, tensor_format,
                                        options);
}

inline numerics::BlockFormat plain(numerics::ElementFormat element) { return {.element = element}; }

/// int8 with one scale per block of `block` consecutive elements.
inline numerics::BlockFormat int8_blocks(
    std::size_t block, numerics::ScaleFormat scale = numerics::ScaleFormat::fp32) {
  return {numerics::ElementFormat::int8, true, scale, numerics::ScaleLayout::contiguous, block};
}

inline numerics::BlockFormat int8_strided(
    numerics::ScaleFormat scale = numerics::ScaleFormat::fp32) {
  return {numerics::ElementFormat::int8, true, scale, numerics::ScaleLayout::strided, 0};
}

/// The formats of both phases: quantized, or plain bf16.
struct Quantized {
  bool reduce_scatter;
  bool all_gather;
};
inline constexpr std::initializer_list<Quantized> kQuantized = {
    {true, true}, {true, false}, {false, true}, {false, false}};

inline collectives::RingOptions ring(
    collectives::RingStyle style, Quantized phases, const numerics::BlockFormat& format,
    std::uint32_t minishards, std::uint32_t microshards,
    numerics::ElementFormat otherwise = numerics::ElementFormat::bf16) {
  return {.style = style,
          .reduce_scatter = phases.reduce_scatter ? format : plain(otherwise),
          .all_gather = phases.all_gather ? format : plain(otherwise),
          .cut = {.minishards = minishards, .microshards = microshards}};
}

}  // namespace equarx::testing
