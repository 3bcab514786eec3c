#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace equarx::tensors {

/// Fills `values` with the elements first, first + 1, ... of a tensor.
using ValueProducer = std::function<void(std::uint64_t first, std::span<float> values)>;

/// Writes a tensor as a .npy file of version 1.0, type '<f4', C order. `produce` is asked for all
/// elements once, in order, a piece at a time. A file of that name is replaced at the end, in one
/// step: whoever reads it sees the old tensor or the new one, and after an error the old one.
/// FileError if the name does not end in .npy, the shape is not that of a tensor, or the file cannot
/// be written, for example because the disk is full. Throws what `produce` throws.
void write_npy(const std::filesystem::path& file, std::span<const std::uint64_t> shape,
               const ValueProducer& produce);

}  // namespace equarx::tensors
