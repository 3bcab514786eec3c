#include "experiments/inspect/stored.hpp"

#include "models/tensors/npy_writer.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::stored_test {
namespace {

using equarx::testing::read_all;
using equarx::testing::TemporaryDirectory;

tensors::TensorFile file_of(const std::filesystem::path& path, const std::vector<float>& values,
                            const std::vector<std::uint64_t>& shape) {
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> piece) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), piece.size(), piece.begin());
  });
  return tensors::TensorFile::open(path);
}

TEST_CASE("stored report: error, bits and the written tensor agree") {
  const TemporaryDirectory directory;
  const auto file = file_of(directory.path() / "in.npy", {7, 3.25, -7, 0}, {2, 2});
  stored::StoredFormat format;  // int4 of one group
  const auto output = directory.path() / "out.npy";
  const StoredReport report = quantize_stored(file, format, std::nullopt, StoredOutput{output});
  CHECK(read_all(tensors::TensorFile::open(output)) == std::vector<float>{7, 3, -7, 0});
  CHECK(report.error.mse == 0.25 * 0.25 / 4);
  CHECK(report.bits.total() == 4 * 4 + 32);
  CHECK_THAT(to_table(report), ContainsSubstring("bits per element"));
}

TEST_CASE("stored report: importance is refused unless the format depends on it") {
  const TemporaryDirectory directory;
  const auto file = file_of(directory.path() / "in.npy", {1, 2, 3, 4}, {2, 2});
  file_of(directory.path() / "flat.npy", {1, 2, 3, 4}, {4});
  stored::StoredFormat format;
  const auto check = [&](const std::optional<tensors::TensorFile>& importance,
                         const std::string& remedy) {
    equarx::testing::check_refused([&] { quantize_stored(file, format, importance, std::nullopt); },
                                   "/importance", remedy);
  };
  check(tensors::TensorFile::open(directory.path() / "in.npy"), "remove it");
  format.apart.important = 0.25;
  check(std::nullopt, "give a file");
  check(tensors::TensorFile::open(directory.path() / "flat.npy"), "2 x 2");
}

TEST_CASE("stored report: a tensor that the format does not divide is refused") {
  const TemporaryDirectory directory;
  const auto file = file_of(directory.path() / "in.npy", {1, 2, 3, 4}, {2, 2});
  stored::StoredFormat format;
  format.groups = {stored::Along::row, 3};
  equarx::testing::check_refused([&] { quantize_stored(file, format, std::nullopt, std::nullopt); },
                                 "/format", "give a divisor");
}

}  // namespace
}  // namespace equarx::inspect::stored_test
