#include "experiments/report/streams.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "topologies/markup.hpp"

namespace equarx::report {
namespace {

// Sizes in pixels.
constexpr double kLabels = 150.0;  // width of the names of streams
constexpr double kWidth = 960.0;   // width of the time axis
constexpr double kBorder = 16.0;
constexpr double kTop = 30.0;  // height of the caption
constexpr double kLane = 34.0;
constexpr double kBar = 22.0;
constexpr double kLine = 20.0;  // height of a line of text
constexpr double kUnderline = 4.0;
constexpr int kTicks = 5;
constexpr std::size_t kLegendColumns = 4;

// Okabe and Ito, Color Universal Design, 2008.
constexpr std::array<std::string_view, 8> kColours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                      "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A"};
constexpr std::string_view kCriticalColour = "#000000";

/// A task, or several tasks of one group whose bars would touch.
struct Bar {
  std::size_t lane = 0;
  std::size_t group = 0;
  bool critical = false;
  double start = 0.0;  ///< pixels from the start of the step
  double end = 0.0;
};

/// Returns the index of a name in a list; appends it if absent.
std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

class Picture {
 public:
  Picture(const input::Json& tasks, const input::Json& critical_path) {
    for (const input::Json& task : tasks) end_s_ = std::max(end_s_, task.at("end_s").get<double>());
    std::set<std::string> critical;
    for (const input::Json& name : critical_path) critical.insert(name.get<std::string>());
    for (const input::Json& task : tasks) add(task, critical);
  }

  std::string draw(const std::string& caption) const {
    const double height = legend_top() + kLine * static_cast<double>(legend_rows()) + kBorder;
    const double width = kLabels + kWidth + 2.0 * kBorder;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height);
    svg += text(kBorder, kTop - kUnderline, "start", caption);
    for (std::size_t lane = 0; lane < streams_.size(); ++lane)
      svg += text(kBorder, lane_top(lane) + kBar - kUnderline, "start", streams_[lane]);
    svg += axis();
    for (const Bar& bar : bars_) svg += drawn(bar);
    return svg + legend() + "</svg>\n";
  }

 private:
  void add(const input::Json& task, const std::set<std::string>& critical) {
    const auto at = [&](const char* key) {
      return end_s_ > 0.0 ? task.at(key).get<double>() / end_s_ * kWidth : 0.0;
    };
    const Bar bar{index_of(streams_, task.at("stream").get<std::string>()),
                  index_of(groups_, task.at("group").get<std::string>()),
                  critical.contains(task.at("name").get<std::string>()), at("start_s"),
                  at("end_s")};
    const auto [last, is_first] =
        last_.try_emplace(std::tuple(bar.lane, bar.group, bar.critical), bars_.size());
    if (!is_first && touches(bars_[last->second], bar)) {
      bars_[last->second].end = std::max(bars_[last->second].end, bar.end);
      return;
    }
    last->second = bars_.size();
    bars_.push_back(bar);
  }

  /// True if two bars are indistinguishable. Tasks of a stream run one after the other.
  static bool touches(const Bar& before, const Bar& bar) {
    constexpr double kTouching = 0.2;  // pixels
    return bar.start - before.end < kTouching &&
           std::min(bar.end - bar.start, before.end - before.start) < 1.0;
  }

  static double lane_top(std::size_t lane) { return kTop + kLane * static_cast<double>(lane); }
  double axis_top() const { return lane_top(streams_.size()); }
  double legend_top() const { return axis_top() + 2.0 * kLine; }
  std::size_t legend_rows() const {  // with the line about the critical path
    return (groups_.size() + kLegendColumns - 1) / kLegendColumns + 1;
  }

  static std::string text(double x, double y, std::string_view anchor, std::string_view content) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, topology::escaped_for_markup(content));
  }

  static std::string box(double x, double y, double width, double height, std::string_view colour) {
    return fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
        width, height, colour);
  }

  std::string_view colour_of(std::size_t group) const { return kColours[group % kColours.size()]; }

  std::string drawn(const Bar& bar) const {
    constexpr double kThinnest = 0.4;
    constexpr double kGap = 0.3;  // separates neighbours
    const double x = kBorder + kLabels + bar.start;
    const double width = std::max(kThinnest, bar.end - bar.start - kGap);
    const double y = lane_top(bar.lane);
    std::string svg = box(x, y, width, kBar, colour_of(bar.group));
    if (bar.critical) svg += box(x, y + kBar + 1.0, width, kUnderline, kCriticalColour);
    return svg;
  }

  std::string axis() const {
    std::string svg;
    for (int i = 0; i <= kTicks; ++i) {
      const double share = static_cast<double>(i) / kTicks;
      const double x = kBorder + kLabels + share * kWidth;
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#cccccc\"/>\n",
          x, kTop, axis_top());
      const std::string_view anchor = i == 0 ? "start" : i == kTicks ? "end" : "middle";
      svg += text(x, axis_top() + kLine - kUnderline, anchor,
                  i == 0 ? "0" : units::time_text(share * end_s_));
    }
    return svg;
  }

  std::string legend() const {
    std::string svg;
    const double column = (kLabels + kWidth) / kLegendColumns;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const double x = kBorder + column * static_cast<double>(group % kLegendColumns);
      const std::size_t row = group / kLegendColumns;
      const double y = legend_top() + kLine * static_cast<double>(row);
      svg += box(x, y - kLine / 2.0, kLine / 2.0, kLine / 2.0, colour_of(group));
      svg += text(x + kLine, y, "start", groups_[group]);
    }
    const double y = legend_top() + kLine * static_cast<double>(legend_rows() - 1);
    svg += box(kBorder, y - kUnderline, kLine / 2.0, kUnderline, kCriticalColour);
    return svg + text(kBorder + kLine, y, "start", "critical path");
  }

  double end_s_ = 0.0;
  std::vector<std::string> streams_;
  std::vector<std::string> groups_;
  std::vector<Bar> bars_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> last_;  ///< last bar of a kind
};

}  // namespace

std::string draw_streams(const input::Json& tasks, const input::Json& critical_path,
                         const std::string& caption) {
  return Picture(tasks, critical_path).draw(caption);
}

}  // namespace equarx::report
