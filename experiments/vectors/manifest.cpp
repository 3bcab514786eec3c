#include "experiments/vectors/manifest.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/version.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/contract/report.hpp"

namespace equarx::vectors {
namespace {

using collectives::Range;
using input::Json;

Json range_json(const Range& range) { return Json::array({range.begin, range.end}); }

/// Elements of the parts of a result, joined where they touch.
Json parts_json(const std::vector<values::ResultPart>& parts) {
  Json list = Json::array();
  for (const values::ResultPart& part : parts)
    if (!list.empty() && list.back()[1] == part.range.begin)
      list.back()[1] = part.range.end;
    else
      list.push_back(range_json(part.range));
  return list;
}

Json whole_json(std::string_view name, std::string_view kind, std::uint64_t elements) {
  return {{"name", name}, {"kind", kind}, {"elements", Json::array({range_json({0, elements})})}};
}

Json step_json(const values::RecordedStep& step, const std::string& name,
               const collectives::Program& program) {
  Json json = {{"name", name},
               {"kind", values::name(step.kind)},
               {"ranks", step.ranks},
               {"instruction", step.instruction},
               {"operation", collectives::name(program.instructions[step.instruction].op)},
               {"phase", collectives::name(program.instructions[step.instruction].phase)},
               {"elements", Json::array({range_json(step.range)})},
               {"terms", step.terms}};
  if (step.kind == values::StepKind::scales || step.kind == values::StepKind::encoded)
    json["minishard"] = range_json(step.minishard);
  return json;
}

Json tensors_json(const CaseVectors& one) {
  const std::uint64_t elements = one.inputs.front().size();
  Json list = Json::array();
  for (std::size_t rank = 0; rank < one.inputs.size(); ++rank) {
    list.push_back(whole_json(fmt::format("input.rank{}", rank), "input", elements));
    list.back()["ranks"] = Json::array({rank});
  }
  if (!one.residual.empty()) list.push_back(whole_json("residual", "residual input", elements));
  const std::vector<std::string> names = step_names(one.record);
  for (std::size_t i = 0; i < names.size(); ++i)
    list.push_back(step_json(one.record.steps[i], names[i], one.program));
  for (std::size_t rank = 0; rank < one.record.results.size(); ++rank)
    if (!one.record.results[rank].empty())
      list.push_back({{"name", fmt::format("result.rank{}", rank)},
                      {"kind", "result"},
                      {"ranks", Json::array({rank})},
                      {"elements", parts_json(one.record.results[rank])}});
  list.push_back(whole_json("exact", "exact", elements));
  list.push_back(whole_json("rounded_once", "rounded once", elements));
  return list;
}

Json case_json(const CaseVectors& one, const std::string& folder) {
  const auto cut = one.program.partition.common_cut();
  return {{"name", one.info.name},
          {"purpose", one.info.purpose},
          {"file", file_name(folder, one.info)},
          {"shape", Json::array({one.inputs.front().size()})},
          {"minishards", cut ? Json(cut->minishards) : Json()},
          {"microshards", cut ? Json(cut->microshards) : Json()},
          {"tensors", tensors_json(one)}};
}

/// True if all ranks end with the same bits in every case; of an AllReduce.
bool ranks_identical(const CollectiveVectors& one) {
  const auto joined = [](const std::vector<values::ResultPart>& parts) {
    std::vector<std::byte> bits;
    for (const values::ResultPart& part : parts) {
      const auto bytes = std::as_bytes(std::span(part.values));
      bits.insert(bits.end(), bytes.begin(), bytes.end());
    }
    return bits;
  };
  return std::ranges::all_of(one.cases, [&](const CaseVectors& vectors) {
    const auto first = joined(vectors.record.results.front());
    return std::ranges::all_of(vectors.record.results,
                               [&](const auto& parts) { return joined(parts) == first; });
  });
}

Json contract_json(const CollectiveVectors& one, const Vectors& vectors) {
  if (one.cases.empty()) return Json();
  const collectives::Arithmetic& arithmetic = one.cases.front().program.arithmetic;
  const bool is_all_reduce = vectors.config.collective == collectives::Collective::all_reduce;
  return {
      {"accumulate", numerics::name(arithmetic.accumulate.value_or(numerics::ElementFormat::fp32))},
      {"roundings", contract::path_text(one.path)},
      {"additions", one.path.additions},
      {"order", collectives::name(arithmetic.order)},
      {"owner", collectives::name(arithmetic.owner)},
      {"subnormals", collectives::name(arithmetic.subnormals)},
      {"overflow", collectives::name(arithmetic.overflow)},
      {"residual", collectives::name(arithmetic.residual)},
      {"ranks_identical", is_all_reduce ? Json(ranks_identical(one)) : Json()},
      {"deterministic", one.deterministic}};
}

Json collective_json(const CollectiveVectors& one, const Vectors& vectors,
                     const std::string& folder) {
  Json cases = Json::array();
  for (const CaseVectors& vector : one.cases) cases.push_back(case_json(vector, folder));
  Json not_run = Json::array();
  for (const NotRun& left : one.not_run)
    not_run.push_back(
        {{"name", left.info.name}, {"purpose", left.info.purpose}, {"reason", left.reason}});
  return {{"folder", folder},
          {"label", one.config.label},
          {"algorithm", one.config.algorithm->name},
          {"format", one.config.format.name},
          {"keys", config::collective_json(one.config, vectors.config.collective)},
          {"contract", contract_json(one, vectors)},
          {"cases", cases},
          {"not_run", not_run}};
}

}  // namespace

std::vector<std::string> folder_names(const Vectors& vectors) {
  std::vector<std::string> names;
  for (const CollectiveVectors& one : vectors.collectives) {
    std::string name;
    for (const unsigned char letter : one.config.label)
      if (std::isalnum(letter) != 0)
        name += static_cast<char>(std::tolower(letter));
      else if (!name.empty() && name.back() != '-')
        name += '-';
    while (!name.empty() && name.back() == '-') name.pop_back();
    if (name.empty()) name = "collective";
    std::string unique = name;
    for (int i = 2; std::ranges::find(names, unique) != names.end(); ++i)
      unique = fmt::format("{}-{}", name, i);
    names.push_back(std::move(unique));
  }
  return names;
}

std::string file_name(const std::string& folder_name, const CaseInfo& info) {
  return fmt::format("{}/{}.safetensors", folder_name, info.name);
}

std::vector<std::string> step_names(const values::ValueRecord& record) {
  std::vector<std::uint32_t> counts(record.results.size());
  std::vector<std::string> names;
  for (const values::RecordedStep& step : record.steps) {
    const collectives::Rank rank = step.ranks.front();
    names.push_back(fmt::format("{}.rank{}.{:04}", values::name(step.kind), rank, counts[rank]++));
  }
  return names;
}

Json manifest_of(const Vectors& vectors) {
  const std::vector<std::string> folders = folder_names(vectors);
  Json list = Json::array();
  Json files = Json::array();
  for (std::size_t i = 0; i < folders.size(); ++i) {
    list.push_back(collective_json(vectors.collectives[i], vectors, folders[i]));
    for (const Json& one : list.back()["cases"]) files.push_back(one["file"]);
  }
  return {{"version", output::version()},
          {"complete", true},
          {"collective", config::collective_key(vectors.config.collective)},
          {"dtype", numerics::name(vectors.config.tensor.dtype)},
          {"ranks", vectors.ranks},
          {"collectives", list},
          {"files", files},
          {"config", config::to_json(vectors.config)}};
}

}  // namespace equarx::vectors
