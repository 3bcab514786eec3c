// The other formats, whose encoding and decoding are plain loops that the compiler vectorises, and
// stochastic rounding of all that have it.
// Compiled once for each instruction set: the guard lets it in again when foreach_target.h toggles.
#if defined(EQUARX_NUMERICS_KERNELS_FLOATS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_FLOATS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_FLOATS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_FLOATS_INL_HPP_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <hwy/highway.h>

#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/random/rounding_key.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

void divide(const Piece& piece, const float* values, std::size_t count, float* ratios) {
  visit_scales(piece, count, [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
    std::size_t i = 0;
    for (; i + lanes() <= length; i += lanes())
      store(quotients(load(values + done + i), scales, i), ratios + done + i);
    for (; i < length; ++i) ratios[done + i] = quotient(values[done + i], scales, i);
  });
}

void multiply(const Piece& piece, std::size_t count, float* values) {
  visit_scales(piece, count, [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
    std::size_t i = 0;
    for (; i + lanes() <= length; i += lanes())
      store(products(load(values + done + i), scales, i), values + done + i);
    for (; i < length; ++i) values[done + i] = product(values[done + i], scales, i);
  });
}

template <class Element>
concept Stochastic = requires {
  Element::encode_stochastic(0.0F, 0U);
};

void draw_words(const RoundingKey& key, std::size_t count, std::uint32_t* words) {
  std::uint64_t index = key.first_element / kElementsPerCounter;
  std::size_t skip = key.first_element % kElementsPerCounter;
  for (std::size_t done = 0; done < count; ++index, skip = 0) {
    const PhiloxCounter random = rounding_words(key, index);
    for (std::size_t w = skip; w < random.size() && done < count; ++w) words[done++] = random[w];
  }
}

template <Stochastic Element>
void encode_randomly(const RoundingKey& key, const float* ratios, std::size_t count,
                     typename Element::Code* codes) {
  std::array<std::uint32_t, kChunk> words;
  draw_words(key, count, words.data());
  for (std::size_t i = 0; i < count; ++i)
    codes[i] = Element::encode_stochastic(ratios[i], words[i]);
}

template <Stochastic Element>
void quantize_randomly(const Piece& piece, std::span<const float> values, std::byte* codes) {
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& part, std::size_t done, std::size_t length) {
              Chunk ratios;
              divide(part, values.data() + done, length, ratios.data());
              encode_randomly<Element>(part.key, ratios.data(), length,
                                       reinterpret_cast<typename Element::Code*>(codes + done));
            });
}

template <class Element>
void decode_all(const std::byte* codes, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    typename Element::Code code;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    values[i] = Element::decode(code);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
