#include "models/checkpoints/layout_file.hpp"

#include <bit>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/models/checkpoints/formats.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::checkpoints::layout_file_test {
namespace {

using equarx::testing::file_error_of;
using equarx::testing::safetensors;
using equarx::testing::safetensors_entry;
using equarx::testing::TemporaryDirectory;
using testing::format_for;

constexpr stored::Shape kShape{64, 128};

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

stored::Packed packed_for(const stored::StoredFormat& format) {
  return stored::encode_packed(format, kShape, stored::testing::normal_values(kShape.elements()),
                               1);
}

TEST_CASE("layouts: reading gives the values that were written, bit for bit") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "w.safetensors";
  for (std::size_t i = 0; i < kLayoutNames.size(); ++i)
    for (const bool symmetric : {true, false})
      for (const int bits : {2, 3, 4, 8}) {
        const auto layout = static_cast<Layout>(i);
        const stored::StoredFormat format = format_for(layout, symmetric, bits);
        if (layout == Layout::nvfp4_pack_quantized) continue;  // can only be read
        if (layout == Layout::awq && format.elements.bits != 4) continue;
        if (layout == Layout::pack_quantized && bits < 4) continue;
        CAPTURE(kLayoutNames[i], symmetric, bits);
        const stored::Packed packed = packed_for(format);
        write_layout(path, layout, "layer.weight", format, packed);
        const LayoutTensor read = read_layout(
            path, layout == Layout::gptq_v2 ? std::optional(layout) : std::nullopt, std::nullopt);
        CHECK(read.layout == layout);
        CHECK(read.weight == "layer");
        CHECK(bits_of(stored::decode_packed(read.stored.format, read.stored.packed, 1)) ==
              bits_of(stored::decode_packed(format, packed, 1)));
      }
}

/// File of these tensors, each filled with zeros.
std::filesystem::path file_with(const TemporaryDirectory& directory, const std::string& header,
                                std::size_t bytes) {
  const auto path = directory.path() / "bad.safetensors";
  std::ofstream(path, std::ios::binary)
      << safetensors("{" + header + "}", std::string(bytes, '\0'));
  return path;
}

TEST_CASE("layouts: files without a weight in a layout are refused") {
  const TemporaryDirectory directory;
  const auto error = [&](const std::string& header, std::size_t bytes,
                         std::optional<std::string_view> weight = std::nullopt) {
    const auto path = file_with(directory, header, bytes);
    return file_error_of([&] { read_layout(path, std::nullopt, weight); });
  };
  const std::string words = safetensors_entry("a.qweight", "I32", "[8,32]", 0, 1024);
  CHECK_THAT(error(safetensors_entry("a.weight", "F32", "[1,1]", 0, 4), 4),
             ContainsSubstring("holds no quantized weight"));
  CHECK_THAT(error(words, 1024), ContainsSubstring("'a.qzeros' is missing"));
  CHECK_THAT(error(words, 1024, "b"), ContainsSubstring("no quantized weight 'b'"));
  CHECK_THAT(error(safetensors_entry("a.qweight", "F32", "[8,32]", 0, 1024), 1024),
             ContainsSubstring("'F32', not I32"));
  CHECK_THAT(error(safetensors_entry("a.qweight", "I32", "[256]", 0, 1024), 1024),
             ContainsSubstring("two dimensions"));
  CHECK_THAT(error(safetensors_entry("a.qweight", "I32", "[8,32]", 0, 512), 512),
             ContainsSubstring("malformed"));
  const std::string two = words + "," + safetensors_entry("b.qweight", "I32", "[1,1]", 1024, 1028);
  CHECK_THAT(error(two, 1028), ContainsSubstring("name one of them"));
  CHECK_THAT(file_error_of([&] { read_layout("w.npy", std::nullopt, std::nullopt); }),
             ContainsSubstring("must end in .safetensors"));
}

TEST_CASE("layouts: tensors that do not fit together are refused") {
  const TemporaryDirectory directory;
  const auto error = [&](const std::string& scales, const std::string& index) {
    std::string header = safetensors_entry("qweight", "I32", "[8,32]", 0, 1024);
    header += "," + safetensors_entry("qzeros", "I32", "[2,4]", 1024, 1056);
    header += "," + safetensors_entry("scales", "F16", scales, 1056, 1184);
    header += "," + safetensors_entry("g_idx", "I32", index, 1184, 1440);
    const auto path = file_with(directory, header, 1440);
    return file_error_of([&] { read_layout(path, std::nullopt, std::nullopt); });
  };
  CHECK_THAT(error("[2,32]", "[64]"), ContainsSubstring("out of order"));
  CHECK_THAT(error("[64,1]", "[64]"), ContainsSubstring("g_idx"));
  CHECK_THAT(error("[2,32]", "[8,8]"), ContainsSubstring("out of order"));
}

TEST_CASE("layouts: a name may end in .weight") {
  CHECK(without_suffix("a.weight") == "a");
  CHECK(without_suffix("weight") == "");
  CHECK(without_suffix("a.overweight") == "a.overweight");
}

}  // namespace
}  // namespace equarx::checkpoints::layout_file_test
