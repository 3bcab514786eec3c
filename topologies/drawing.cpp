#include "topologies/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "topologies/layout.hpp"
#include "topologies/markup.hpp"

namespace equarx::topology {
namespace {

constexpr double kBorder = 30.0;
constexpr double kLine = 22.0;  // text line height
constexpr double kMinWidth = 360.0;
constexpr double kRingWidth = 11.0;
constexpr double kSideways = 3.5;  // offset of a link direction from the middle of the link

// Okabe and Ito, Color Universal Design, 2008.
constexpr std::string_view kRingColour = "#E69F00";
constexpr std::string_view kCableColour = "#5A5A5A";

// Low to high: ColorBrewer's sequential YlGnBu scheme, which is colour-blind safe.
constexpr std::array<std::array<int, 3>, 5> kValueColours = {
    {{199, 233, 180}, {127, 205, 187}, {65, 182, 196}, {34, 94, 168}, {8, 29, 88}}};

std::string colour_of(double value) {
  constexpr double kIntervals = kValueColours.size() - 1;
  const double place = value * kIntervals;
  const auto low = std::min(static_cast<std::size_t>(place), kValueColours.size() - 2);
  const double share = place - static_cast<double>(low);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    mixed[i] = static_cast<int>(
        std::lround(kValueColours[low][i] * (1.0 - share) + kValueColours[low + 1][i] * share));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

double width_of(double value) {
  constexpr double kThinnest = 1.0;
  constexpr double kWidening = 4.5;
  return kThinnest + kWidening * value;
}

std::string line(const Point& from, const Point& to, std::string_view colour, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{:.1f}\"/>\n",
      from.x, from.y, to.x, to.y, colour, width);
}

std::string text(const Point& at, std::string_view anchor, std::string_view content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y,
                     anchor, escaped_for_markup(content));
}

class Picture {
 public:
  Picture(const Topology& topology, const Drawing& drawing)
      : topology_(topology), drawing_(drawing), layout_(lay_out(topology, drawing.shape)) {
    place();
  }

  std::string svg() const {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Arial, sans-serif\" "
        "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        size_.x, size_.y);
    if (!drawing_.caption.empty()) svg += text({kBorder, kLine + 4}, "start", drawing_.caption);
    svg += "<g stroke-linecap=\"round\">\n" + ring() + cables() + "</g>\n" + chips() + legend();
    return svg + "</svg>\n";
  }

 private:
  /// Moves the layout into the picture, below the caption and above the legend.
  void place() {
    Point low = layout_.chips.front();
    Point high = low;
    const auto include = [&](const Point& point) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    };
    for (const Point& chip : layout_.chips) {
      include(chip - layout_.box * 0.5);
      include(chip + layout_.box * 0.5);
    }
    for (LinkId id = 0; id < topology_.link_count(); ++id) {
      if (layout_.stubs[id]) include(start_of(id) + *layout_.stubs[id]);
    }
    const double top = drawing_.caption.empty() ? 0.0 : kLine;
    const double width = std::max(high.x - low.x, kMinWidth);
    const Point origin{kBorder + (width - (high.x - low.x)) / 2 - low.x, kBorder + top - low.y};
    for (Point& chip : layout_.chips) chip = chip + origin;
    bottom_ = kBorder + top + (high.y - low.y);
    size_ = {width + 2 * kBorder, bottom_ + kBorder + kLine * legend_lines()};
  }

  double legend_lines() const {
    return (drawing_.ring.empty() ? 0.0 : 1.0) + (drawing_.values.empty() ? 0.0 : 1.0) +
           (has_stubs() ? 1.0 : 0.0);
  }

  bool has_stubs() const {
    return std::ranges::any_of(layout_.stubs, [](const auto& stub) { return stub.has_value(); });
  }

  Point start_of(LinkId id) const { return layout_.chips[topology_.link(id).from]; }

  /// Returns the line of a link direction; for a wraparound link, the stub at its start.
  std::array<Point, 2> span_of(LinkId id) const {
    const Point start = start_of(id);
    if (layout_.stubs[id]) return {start, start + *layout_.stubs[id]};
    return {start, layout_.chips[topology_.link(id).to]};
  }

  std::string ring() const {
    std::string svg;
    const std::size_t chips = drawing_.ring.size();
    for (std::size_t place = 0; chips > 1 && place < chips; ++place) {
      const ChipId here = drawing_.ring[place];
      const ChipId next = drawing_.ring[(place + 1) % chips];
      const LinkId there = topology_.find_link(here, next).value();
      const auto [from, to] = span_of(there);
      svg += line(from, to, kRingColour, kRingWidth);
      if (!layout_.stubs[there]) continue;
      const auto [other, end] = span_of(topology_.find_link(next, here).value());
      svg += line(other, end, kRingColour, kRingWidth);
    }
    return svg;
  }

  std::string cables() const {
    constexpr double kCableWidth = 1.6;
    std::string svg;
    for (LinkId id = 0; id < topology_.link_count(); ++id) {
      const auto [from, to] = span_of(id);
      if (!drawing_.values.empty()) {
        svg += direction(id, from, to);
      } else if (id % 2 == 0 || layout_.stubs[id]) {
        svg += line(from, to, kCableColour, kCableWidth);
      }
    }
    return svg;
  }

  /// Draws one link direction. A stub of a wraparound link shows both directions.
  std::string direction(LinkId id, const Point& from, const Point& to) const {
    const Point along = to - from;
    const Point right = Point{-along.y, along.x} * (kSideways / std::hypot(along.x, along.y));
    const auto drawn = [&](LinkId shown, const Point& aside) {
      const double value = drawing_.values[shown];
      return line(from + aside, to + aside, colour_of(value), width_of(value));
    };
    std::string svg = drawn(id, right);
    if (layout_.stubs[id]) svg += drawn(id ^ 1U, right * -1.0);
    return svg;
  }

  std::string chips() const {
    constexpr double kBaseline = 4.0;
    std::string svg = "<g font-size=\"11\">\n";
    for (ChipId chip = 0; chip < topology_.node_count(); ++chip) {
      const Point centre = layout_.chips[chip];
      const Point corner = centre - layout_.box * 0.5;
      const bool starts = !drawing_.ring.empty() && drawing_.ring.front() == chip;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\" "
          "fill=\"{}\" stroke=\"#222222\"/>\n",
          corner.x, corner.y, layout_.box.x, layout_.box.y, starts ? kRingColour : "white");
      svg += text(centre + Point{0.0, kBaseline}, "middle", topology_.label(chip));
    }
    return svg + "</g>\n";
  }

  std::string legend() const {
    constexpr double kSample = 30.0;
    Point at{kBorder, bottom_ + kLine + 6};
    std::string svg;
    const auto add = [&](const std::string& content) {
      svg += text(at + Point{kSample + 8, 4.0}, "start", content);
      at.y += kLine;
    };
    if (!drawing_.ring.empty()) {
      svg += line(at, at + Point{kSample, 0.0}, kRingColour, kRingWidth);
      add(fmt::format("ring, from {} on", topology_.label(drawing_.ring.front())));
    }
    if (!drawing_.values.empty()) {
      constexpr int kSteps = 5;
      for (int i = 0; i < kSteps; ++i) {
        const double value = i / (kSteps - 1.0);
        const double width = kSample / kSteps;
        const Point from = at + Point{width * i, 0.0};
        svg += line(from, from + Point{width, 0.0}, colour_of(value), width_of(value));
      }
      add(fmt::format("{} of each direction, 0 to 1", drawing_.value_name));
    }
    if (has_stubs()) {
      svg += line(at, at + Point{kSample / 2, 0.0}, kCableColour, 1.6);
      add("end of a wraparound link");
    }
    return svg;
  }

  const Topology& topology_;
  const Drawing& drawing_;
  Layout layout_;
  Point size_;
  double bottom_ = 0.0;  ///< of the chips and links
};

void check(const Topology& topology, const Drawing& drawing) {
  if (topology.chip_count() > kMaxDrawnChips) {
    throw std::invalid_argument(fmt::format("a drawing of {} chips is not legible; draw at most {}",
                                            topology.chip_count(), kMaxDrawnChips));
  }
  if (drawing.shape && chip_count(*drawing.shape) != topology.chip_count()) {
    throw std::logic_error("the topology was not made from the shape of the drawing");
  }
  const auto is_share = [](double value) { return value >= 0.0 && value <= 1.0; };
  const bool complete = drawing.values.empty() || drawing.values.size() == topology.link_count();
  if (!complete || !std::ranges::all_of(drawing.values, is_share)) {
    throw std::logic_error("a drawing needs one value from 0 to 1 per link direction, or none");
  }
}

}  // namespace

std::string draw_svg(const Topology& topology, const Drawing& drawing) {
  check(topology, drawing);
  return Picture(topology, drawing).svg();
}

}  // namespace equarx::topology
