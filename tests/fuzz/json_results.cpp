// Readers of results, which the program wrote but others may have edited, and of JSON in general.
#include <array>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/provenance.hpp"
#include "experiments/compare/compare.hpp"
#include "experiments/compare/report.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/report/pictures.hpp"
#include "experiments/report/report.hpp"
#include "experiments/sweep/store.hpp"
#include "tests/fuzz/json_readers.hpp"

namespace equarx::testing {
namespace {

/// Replaces the placeholder THIS_VERSION of the seeds by the version of the program.
std::string of_this_version(std::string_view text) {
  constexpr std::string_view kMark = "THIS_VERSION";
  std::string replaced(text);
  for (std::size_t at = replaced.find(kMark); at != std::string::npos; at = replaced.find(kMark))
    replaced.replace(at, kMark.size(), output::version());
  return replaced;
}

/// Returns true if `read` accepts the input.
template <typename Read>
bool takes(Read&& read) {
  try {
    read();
    return true;
  } catch (const input::InputError&) {
    return false;
  }
}

void read_results(std::string_view text) {
  const std::string path = scratch_file("results.jsonl", of_this_version(text));
  takes([&] {
    const compare::Comparison comparison = compare::compare(path, path);
    compare::to_table(comparison);
    input::json_text(compare::to_json(comparison));
  });
  takes([&] {
    sweep::SweepStore store(scratch_folder());
    store.open();
    for (const auto& [key, point] : store.points()) store.results(point);
  });
  scratch_file("results.jsonl", of_this_version(text));
  report::ReportInput input{.title = "fuzz",
                            .results = report::read_results(std::array{path}),
                            .pictures = {},
                            .version = "fuzz"};
  report::fill_in_parameters(input.results);
  constexpr std::size_t kMostPictures = 2;
  input.pictures = report::make_pictures(input.results, kMostPictures);
  report::report_data(input);
}

/// Reads the text as JSON, and its first line as a JSON pointer at which the rest is set.
void read_text(std::string_view text) {
  const std::size_t line = text.find('\n');
  if (line != std::string_view::npos)
    takes([&] {
      input::Json config = input::Json::parse(R"({"tensor": {"shape": [1]}, "hardware": "tpu-v5e",
        "collectives": [{"label": "a"}, {"label": "b"}], "list": [1, [2]]})");
      config::override_value(config, std::string(text.substr(0, line)),
                             std::string(text.substr(line + 1)));
      const std::string changed = input::json_text(config);
      expect(input::json_text(input::parse_json(changed)) == changed,
             "a document with an overridden value stays valid JSON");
    });
  const input::Json json = input::parse_json(text);
  expect(input::parse_json(input::json_text(json)) == json, "written JSON reads back unchanged");
}

}  // namespace

std::vector<JsonReader> text_readers() {
  return {{"results", {"result", "sweep"}, read_results}, {"json", {"experiment"}, read_text}};
}

}  // namespace equarx::testing
