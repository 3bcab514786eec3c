// User-supplied values.
#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "experiments/result/json.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::testing::tensor_files_test {
namespace {

TEST_CASE("values in files give bit-identical results to the same generated values") {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kElements = 20011;  // a prime, so that nothing divides it
  const numerics::InputSpec spec{.distribution = numerics::Distribution::heavy_tailed, .seed = 7};
  const auto write = [&](const std::string& name, std::uint32_t first_rank, std::uint64_t ranks,
                         bool leading_axis) {
    std::vector<std::uint64_t> shape = {kElements};
    if (leading_axis) shape.insert(shape.begin(), ranks);
    const std::string path = (directory.path() / name).string();
    std::vector<float> all(ranks * kElements);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      numerics::generate(spec, first_rank + rank, 0,
                         std::span(all).subspan(rank * kElements, kElements));
    return write_values(directory, name, shape, [&](std::uint64_t i) { return all[i]; });
  };
  const Names one_each = {write("0.npy", 0, 1, false), write("1.npy", 1, 1, false),
                          write("2.npy", 2, 1, false)};
  const Names one_for_all = {write("all.npy", 0, kRanks, true)};
  for (const std::string dtype : {"fp32", "bf16"}) {
    input::Json synthetic = from_files({});
    synthetic["tensor"] = input::parse_json(R"({"shape": [20011],
      "values": {"distribution": "heavy-tailed", "seed": 7}})");
    synthetic["tensor"]["dtype"] = dtype;
    const input::Json expected = result::to_json(run(synthetic))["runs"];
    for (const Names& files : {one_each, one_for_all}) {
      CAPTURE(dtype, files.size());
      input::Json json = from_files(files);
      json["tensor"]["dtype"] = dtype;
      const input::Json result = result::to_json(run(json));
      CHECK(result["runs"] == expected);
      CHECK_NOTHROW(input::check_schema(input::parse_json(result.dump()), "result"));
    }
  }
}

}  // namespace
}  // namespace equarx::testing::tensor_files_test
