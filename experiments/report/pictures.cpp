#include "experiments/report/pictures.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/chip_choice.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/report/streams.hpp"
#include "topologies/drawing.hpp"

namespace equarx::report {
namespace {

/// Limit that keeps the page small and pictures readable.
constexpr std::uint32_t kMostChips = 512;

/// @throws InputError if the chip is a file that does not exist here
hardware::Chip chip_of(const input::Json& config) {
  input::ObjectReader reader(config, "");
  return config::read_chip_choice(reader).chip;
}

/// Reads the topology of a configuration; std::nullopt if that is not possible, or if it is too
/// large to draw.
std::optional<std::pair<config::TopologyConfig, config::PlannedTopology>> read_planned(
    const input::Json& config) {
  try {
    const hardware::Chip chip = chip_of(config);
    config::TopologyConfig topology =
        config::read_topology(input::ObjectReader(config.at("topology"), "/topology"), chip);
    if (config::count_chips(topology) > kMostChips) return std::nullopt;
    config::PlannedTopology planned = config::plan_topology(topology, chip);
    return std::pair(std::move(topology), std::move(planned));
  } catch (const input::InputError&) {
    return std::nullopt;
  } catch (const input::Json::exception&) {
    return std::nullopt;
  }
}

/// Utilisation of links, by the chips that they join. @throws Json::exception if the format is
/// unknown
std::map<std::pair<std::string, std::string>, double> read_links(const input::Json& links) {
  std::map<std::pair<std::string, std::string>, double> known;
  for (const input::Json& link : links) {
    if (!link.contains("from")) return {};  // of a representative chip
    known[{link["from"].get<std::string>(), link.at("to").get<std::string>()}] =
        link.at("utilisation").get<double>();
  }
  return known;
}

/// Utilisation by link; empty unless the run has all links of the topology.
std::vector<double> utilisation(const input::Json& run, const topology::Topology& graph) {
  if (!run.is_object() || !run.contains("links")) return {};
  std::map<std::pair<std::string, std::string>, double> known;
  try {
    known = read_links(run["links"]);
  } catch (const input::Json::exception&) {
    return {};
  }
  std::vector<double> values;
  for (topology::LinkId id = 0; id < graph.link_count(); ++id) {
    const topology::Link link = graph.link(id);
    const auto found = known.find({graph.label(link.from), graph.label(link.to)});
    if (found == known.end()) return {};
    values.push_back(std::clamp(found->second, 0.0, 1.0));
  }
  return values;
}

class PictureMaker {
 public:
  PictureMaker(const ReportResults& results, std::size_t most) : results_(results), most_(most) {}

  std::vector<ReportPicture> make() {
    for (std::size_t row = 0; row < results_.rows.size(); ++row) {
      add_streams(row);
      add(row);
    }
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      if (drawn_[i].empty()) continue;  // a picture of streams belongs to its row only
      const std::set<std::size_t>& sources = sources_of_[drawn_[i]];
      pictures_[i].sources.assign(sources.begin(), sources.end());
    }
    return std::move(pictures_);
  }

  std::size_t left_out() const { return left_out_; }

 private:
  void add_streams(std::size_t index) {
    const input::Json& run = results_.rows[index].run;
    if (!run.is_object() || !run.contains("tasks")) return;
    if (pictures_.size() == most_) {
      ++left_out_;
      return;
    }
    const std::string title = fmt::format("streams of {}", run.value("label", std::string()));
    try {
      pictures_.push_back(
          {title, draw_streams(run["tasks"], run.at("critical_path"), title), index});
    } catch (const input::Json::exception&) {
      return;  // unknown format
    }
    drawn_.emplace_back();
  }

  void add(std::size_t index) {
    const ReportRow& row = results_.rows[index];
    const input::Json& config = results_.sources[row.source].config;
    if (!config.is_object() || !row.run->is_object()) return;
    const bool has_links = row.run->contains("links");
    const std::string topology_key = config.value("hardware", input::Json()).dump() +
                                     config.value("topology", input::Json()).dump();
    sources_of_[topology_key].insert(row.source);
    if (!has_links && std::ranges::find(drawn_, topology_key) != drawn_.end()) return;
    if (pictures_.size() == most_) {
      ++left_out_;
      return;
    }
    const auto planned = read_planned(config);
    if (!planned) return;
    const auto& [topology, layout] = *planned;
    std::vector<double> values = utilisation(row.run, layout.graph);
    if (values.empty() && std::ranges::find(drawn_, topology_key) != drawn_.end()) return;
    drawn_.push_back(topology_key);
    const std::string title = values.empty()
                                  ? config::topology_text(topology)
                                  : fmt::format("{}, {}", config::topology_text(topology),
                                                row.run->value("label", std::string()));
    topology::Drawing drawing{.shape = layout.shape, .value_name = "utilisation", .caption = title};
    const bool measured = !values.empty();
    drawing.values = std::move(values);
    pictures_.push_back({title, topology::draw_svg(layout.graph, drawing),
                         measured ? std::optional(index) : std::nullopt});
  }

  const ReportResults& results_;
  std::size_t most_;
  std::size_t left_out_ = 0;
  std::vector<std::string> drawn_;  ///< topology of each picture; empty for pictures of streams
  std::map<std::string, std::set<std::size_t>> sources_of_;  ///< by topology
  std::vector<ReportPicture> pictures_;
};

}  // namespace

std::vector<ReportPicture> make_pictures(ReportResults& results, std::size_t most) {
  PictureMaker maker(results, most);
  std::vector<ReportPicture> pictures = maker.make();
  if (maker.left_out() > 0)
    results.notes.push_back(fmt::format("{} more runs have no picture: the page is limited to {}",
                                        maker.left_out(), most));
  return pictures;
}

void fill_in_parameters(ReportResults& results) {
  std::map<std::string, input::Json> known;
  for (ReportSource& source : results.sources) {
    if (!source.parameters->is_null() || !source.config->is_object()) continue;
    const std::string hardware = source.config->value("hardware", input::Json()).dump();
    const auto [found, is_new] = known.emplace(hardware, input::Json());
    try {
      if (is_new) found->second = config::parameters_json(chip_of(source.config));
    } catch (const input::InputError&) {
      continue;  // a file that does not exist here
    }
    source.parameters = found->second;
  }
}

}  // namespace equarx::report
