#include "models/tensors/tensor_file.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/tensors/file_error.hpp"
#include "models/tensors/npy_header.hpp"
#include "models/tensors/safetensors_header.hpp"

namespace equarx::tensors {
namespace {

TensorLayout read_header(const std::filesystem::path& file, std::span<const std::byte> bytes,
                         std::optional<std::string_view> tensor) {
  if (file.extension() == ".safetensors") return read_safetensors_header(file, bytes, tensor);
  if (file.extension() != ".npy")
    throw FileError(file, "has an unknown file type; its name must end in .npy or .safetensors");
  if (tensor)
    throw FileError(file, fmt::format("a .npy file holds one unnamed tensor; leave out {}",
                                      in_quotes(*tensor)));
  return read_npy_header(file, bytes);
}

}  // namespace

TensorFile::TensorFile(std::unique_ptr<const MappedFile> file, TensorLayout layout)
    : file_(std::move(file)), layout_(std::move(layout)) {}

TensorFile TensorFile::open(const std::filesystem::path& file,
                            std::optional<std::string_view> tensor) {
  auto mapped = std::make_unique<const MappedFile>(file);
  TensorLayout layout = read_header(file, mapped->bytes(), tensor);
  return {std::move(mapped), std::move(layout)};
}

void TensorFile::read(std::uint64_t first, std::span<float> values) const {
  if (first > layout_.elements || values.size() > layout_.elements - first)
    throw std::out_of_range(fmt::format("elements {} to {} of a tensor of {}", first,
                                        first + values.size(), layout_.elements));
  const std::size_t width = element_bytes(layout_.type);
  const std::size_t bytes = values.size() * width;
  convert_elements(layout_.type, file_->bytes().subspan(layout_.offset + first * width, bytes),
                   values);
  file_->was_read(bytes);
}

}  // namespace equarx::tensors
