#include "experiments/inspect/stored_pieces.hpp"

#include <limits>
#include <vector>

#include "models/tensors/npy_writer.hpp"
#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::stored_pieces_test {
namespace {

using equarx::testing::TemporaryDirectory;

tensors::TensorFile file_of(const TemporaryDirectory& directory, const std::vector<float>& values,
                            std::uint64_t rows) {
  const auto path = directory.path() / "in.npy";
  const std::vector<std::uint64_t> shape = {rows, values.size() / rows};
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> piece) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), piece.size(), piece.begin());
  });
  return tensors::TensorFile::open(path);
}

struct Outcome {
  std::vector<float> decoded;
  std::size_t pieces = 0;
  Rounded rounded;
};

Outcome outcome_of(const tensors::TensorFile& file, const stored::StoredFormat& format,
                   std::size_t piece_elements) {
  Outcome outcome;
  outcome.rounded =
      round_tensor(file, format, std::nullopt,
                   [&](std::uint64_t first, std::span<const float> values) {
                     REQUIRE(first == outcome.decoded.size());
                     outcome.decoded.insert(outcome.decoded.end(), values.begin(), values.end());
                     ++outcome.pieces;
                   },
                   {.keep_codes = true, .piece_elements = piece_elements});
  return outcome;
}

TEST_CASE("pieces: values, codes and errors do not depend on them") {
  namespace st = stored::testing;
  const TemporaryDirectory directory;
  const std::vector<float> values = st::normal_values(30 * 264);
  const tensors::TensorFile file = file_of(directory, values, 30);
  const stored::Scale shifted{.rule = stored::RangeRule::min_max,
                              .zero_point = stored::ZeroPoint::rounded};
  for (const auto& [format, pieces] :
       {std::pair{st::integer_format(4, {stored::Along::row, 88}, shifted), 8U},
        {st::integer_format(3, {stored::Along::row, 0}), 8U},
        {st::table_format("nf4", 4, {stored::Along::tensor, 64}), 8U},
        {st::integer_format(4, {stored::Along::tensor, 0}), 1U},
        {st::integer_format(4, {stored::Along::column, 0}), 1U},
        {st::e2m1_format({stored::Along::row, 8},
                         {.type = numerics::ScaleFormat::e4m3, .of_tensor = true}),
         1U}}) {
    const Outcome whole = outcome_of(file, format, values.size());
    const Outcome parts = outcome_of(file, format, 1060);
    CHECK(parts.pieces == pieces);
    CHECK(parts.decoded == whole.decoded);
    CHECK(parts.decoded == st::stored_values(format, {30, 264}, values));
    CHECK(parts.rounded.packed.codes == whole.rounded.packed.codes);
    CHECK(parts.rounded.packed.scales == whole.rounded.packed.scales);
    CHECK(parts.rounded.packed.zero_points == whole.rounded.packed.zero_points);
    CHECK(parts.rounded.error.mse == whole.rounded.error.mse);
    CHECK(parts.rounded.error.sqnr_db == whole.rounded.error.sqnr_db);
  }
}

TEST_CASE("pieces: a value that is not finite is named by its place in the tensor") {
  const TemporaryDirectory directory;
  std::vector<float> values(4096);
  values[3001] = std::numeric_limits<float>::infinity();
  const tensors::TensorFile file = file_of(directory, values, 64);
  const stored::StoredFormat format = stored::testing::integer_format(4, {stored::Along::row, 64});
  CHECK_THROWS_WITH(outcome_of(file, format, 256), ContainsSubstring("element 3001"));
}

TEST_CASE("pieces: the last dimension is the columns") {
  const stored::Shape shape = rows_and_columns(std::vector<std::uint64_t>{2, 3, 4});
  CHECK(shape.rows == 6);
  CHECK(shape.columns == 4);
}

}  // namespace
}  // namespace equarx::inspect::stored_pieces_test
