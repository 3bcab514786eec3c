#include "experiments/inspect/stored.hpp"

#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::stored_test {
namespace {

using equarx::testing::npy_file;
using equarx::testing::read_all;
using equarx::testing::TemporaryDirectory;

TEST_CASE("stored report: error, bits and the written tensor agree") {
  const TemporaryDirectory directory;
  const auto file = npy_file(directory.path() / "in.npy", {7, 3.25, -7, 0}, {2, 2});
  stored::StoredFormat format;  // int4 of one group
  const auto output = directory.path() / "out.npy";
  const StoredReport report = quantize_stored(file, format, {}, StoredOutput{output});
  CHECK(read_all(tensors::TensorFile::open(output)) == std::vector<float>{7, 3, -7, 0});
  CHECK(report.error.mse == 0.25 * 0.25 / 4);
  CHECK(report.bits.total() == 4 * 4 + 32);
  CHECK_THAT(to_table(report), ContainsSubstring("bits per element"));
}

TEST_CASE("stored report: importance is refused unless the format depends on it") {
  const TemporaryDirectory directory;
  const auto file = npy_file(directory.path() / "in.npy", {1, 2, 3, 4}, {2, 2});
  npy_file(directory.path() / "flat.npy", {1, 2, 3, 4}, {4});
  stored::StoredFormat format;
  const auto check = [&](const StoredFiles& files, const std::string& remedy) {
    equarx::testing::check_refused([&] { quantize_stored(file, format, files, std::nullopt); },
                                   "/importance", remedy);
  };
  const auto open = [&](const char* name) {
    return tensors::TensorFile::open(directory.path() / name);
  };
  check({.importance = open("in.npy")}, "remove it");
  format.apart.important = 0.25;
  check({}, "give a file");
  check({.importance = open("flat.npy")}, "2 x 2");
}

TEST_CASE("stored report: outputs have no error where inputs are 0") {
  const TemporaryDirectory directory;
  const auto file = npy_file(directory.path() / "in.npy", {7, 3.25, -7, 1.25}, {2, 2});
  npy_file(directory.path() / "inputs.npy", {1, 0, 2, 0, 3, 0}, {3, 2});
  npy_file(directory.path() / "hessian.npy", {1, 1, 1, 1}, {2, 2});
  const auto open = [&](const char* name) {
    return tensors::TensorFile::open(directory.path() / name);
  };
  const StoredReport report =
      quantize_stored(file, {}, {.inputs = open("inputs.npy")}, std::nullopt);
  CHECK(report.output_error == 0.0);
  CHECK_THAT(to_table(report), ContainsSubstring("NMSE of outputs"));
  const double error = 2 * 0.25 * 0.25 / (10.25 * 10.25 + 5.75 * 5.75);
  CHECK(quantize_stored(file, {}, {.hessian = open("hessian.npy")}, std::nullopt).output_error ==
        Approx(error));
}

TEST_CASE("stored report: inputs are required where codes depend on them, and have to fit") {
  const TemporaryDirectory directory;
  const auto file = npy_file(directory.path() / "in.npy", {1, 2, 3, 4}, {2, 2});
  npy_file(directory.path() / "three.npy", {1, 2, 3}, {1, 3});
  npy_file(directory.path() / "row.npy", {1, 2}, {1, 2});
  const auto open = [&](const char* name) {
    return tensors::TensorFile::open(directory.path() / name);
  };
  stored::StoredFormat format;
  format.groups.along = stored::Along::row;
  format.feedback.order = stored::FeedbackOrder::columns;
  const auto check = [&](const StoredFiles& files, const std::string& pointer,
                         const std::string& remedy) {
    equarx::testing::check_refused([&] { quantize_stored(file, format, files, std::nullopt); },
                                   pointer, remedy);
  };
  check({}, "/inputs", "a row for each token");
  check({.inputs = open("three.npy")}, "/inputs", "rows of 3 elements");
  check({.hessian = open("row.npy")}, "/hessian", "give 2 x 2");
  check({.inputs = open("row.npy"), .hessian = open("in.npy")}, "/hessian", "give one of both");
  check({.hessian = open("in.npy")}, "/hessian", "not symmetric");
}

TEST_CASE("stored report: a tensor that the format does not divide is refused") {
  const TemporaryDirectory directory;
  const auto file = npy_file(directory.path() / "in.npy", {1, 2, 3, 4}, {2, 2});
  stored::StoredFormat format;
  format.groups = {stored::Along::row, 3};
  equarx::testing::check_refused([&] { quantize_stored(file, format, {}, std::nullopt); },
                                 "/format", "give a divisor");
}

}  // namespace
}  // namespace equarx::inspect::stored_test
