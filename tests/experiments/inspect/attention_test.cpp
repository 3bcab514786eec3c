#include "experiments/inspect/attention.hpp"

#include "base/input/json.hpp"
#include "models/attention/drawn.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::attention_test {
namespace {

using equarx::testing::check_refused;
using equarx::testing::npy_file;
using equarx::testing::TemporaryDirectory;

constexpr attention::CacheShape kShape{.tokens = 6, .heads = 3, .head_size = 4};

attention::CacheFormats int4() {
  attention::CacheFormats formats;
  formats.keys.groups.along = stored::Along::row;
  formats.values.groups.along = stored::Along::row;
  return formats;
}

/// Rows of heads side by side as [heads, rows, size].
std::vector<float> by_head(const std::vector<float>& rows, std::size_t heads, std::size_t size) {
  std::vector<float> moved;
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t first = head * size; first < rows.size(); first += heads * size)
      moved.insert(moved.end(), rows.begin() + static_cast<std::ptrdiff_t>(first),
                   rows.begin() + static_cast<std::ptrdiff_t>(first + size));
  return moved;
}

TEST_CASE("attention report: both shapes of tensors give the same figures") {
  const TemporaryDirectory directory;
  const attention::DrawnCache cache(kShape, 7);
  const std::vector<float> queries = attention::drawn_queries(cache.view(), 2, 6, 2.0, 7);
  const auto file = [&](const char* name, const std::vector<float>& values,
                        const std::vector<std::uint64_t>& shape) {
    return npy_file(directory.path() / name, values, shape);
  };
  AttentionFiles rows{.keys = file("k.npy", cache.keys, {6, 12}),
                      .values = file("v.npy", cache.values, {6, 12}),
                      .queries = file("q.npy", queries, {2, 24}),
                      .head_size = 4,
                      .causal = true};
  AttentionFiles heads{.keys = file("kh.npy", by_head(cache.keys, 3, 4), {3, 6, 4}),
                       .values = file("vh.npy", by_head(cache.values, 3, 4), {3, 6, 4}),
                       .queries = file("qh.npy", by_head(queries, 6, 4), {6, 2, 4}),
                       .causal = true};
  const AttentionReport of_rows = attend(rows, int4());
  const AttentionReport of_heads = attend(heads, int4());
  CHECK(of_rows.shape == kShape);
  CHECK(of_heads.shape == kShape);
  CHECK(of_rows.query_heads == 6);
  CHECK(of_rows.outputs.both_nmse > 0.0);
  CHECK(to_json(of_rows) == to_json(of_heads));
  CHECK(of_rows.keys.bits == Approx(4 + 32 / 12.0));
  CHECK_THAT(to_table(of_rows), ContainsSubstring("6 x 3 x 4"));
  rows.causal = false;
  CHECK(attend(rows, int4()).outputs.both_nmse != of_rows.outputs.both_nmse);
}

TEST_CASE("attention report: tensors are drawn without files") {
  const AttentionReport report = attend({.head_size = 64}, int4());
  CHECK(report.shape == attention::CacheShape{.tokens = 1024, .heads = 8, .head_size = 64});
  CHECK(report.outputs.keys_nmse > report.outputs.values_nmse);
  CHECK(attend({.head_size = 64, .spread = 0.5}, int4()).outputs.keys_nmse <
        report.outputs.keys_nmse);
}

TEST_CASE("attention report: keys and values of a published model") {
  const auto file = [](const std::string& name) {
    return tensors::TensorFile::open(std::string(EQUARX_FIXTURES_DIR) + "/activations/layer0_" +
                                     name + ".npy");
  };
  AttentionFiles files{.keys = file("keys"), .values = file("values"), .queries = file("queries")};
  const AttentionReport found = attend(files, int4());
  CHECK(found.shape == attention::CacheShape{.tokens = 128, .heads = 4, .head_size = 64});
  // Computed in NumPy.
  CHECK(found.outputs.keys_nmse == Approx(0.041253287).epsilon(1e-3));
  CHECK(found.outputs.values_nmse == Approx(0.014047951).epsilon(1e-3));
  CHECK(found.outputs.both_nmse == Approx(0.055404514).epsilon(1e-3));
  attention::CacheFormats channels = int4();
  channels.keys.groups.along = stored::Along::column;
  CHECK(attend(files, channels).outputs.keys_nmse == Approx(0.017609602).epsilon(1e-3));
}

TEST_CASE("attention report: tensors that disagree are refused") {
  const TemporaryDirectory directory;
  const auto file = [&](const char* name, const std::vector<std::uint64_t>& shape) {
    const std::uint64_t count =
        std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies());
    return npy_file(directory.path() / name, std::vector<float>(count, 1.0F), shape);
  };
  const auto check = [&](AttentionFiles files, const std::string& place,
                         const std::string& remedy) {
    check_refused([&] { attend(files, int4()); }, place, remedy);
  };
  check({.keys = file("1.npy", {2, 4})}, "/keys", "neither");
  check({.values = file("1.npy", {2, 4})}, "/values", "neither");
  check({.keys = file("2.npy", {2, 4}), .values = file("3.npy", {2, 4})}, "/keys",
        "with --head-size");
  check({.keys = file("4.npy", {2, 4}), .values = file("5.npy", {2, 4}), .head_size = 3}, "/keys",
        "has shape 2 x 4");
  check({.keys = file("6.npy", {1, 2, 4}), .values = file("7.npy", {1, 3, 4})}, "/values",
        "give equal ones");
  check({.keys = file("8.npy", {1, 2, 4}), .values = file("9.npy", {1, 2, 4}), .head_size = 2},
        "/head_size", "remove it");
  check({.keys = file("a.npy", {1, 2, 4}),
         .values = file("b.npy", {1, 2, 4}),
         .queries = file("c.npy", {1, 1, 2})},
        "/queries", "heads of 2 elements, keys of 4");
  check({.spread = -1.0}, "/spread", "not negative");
}

}  // namespace
}  // namespace equarx::inspect::attention_test
