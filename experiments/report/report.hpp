// The report: results as one HTML file that needs nothing else, not even a network.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/results.hpp"

namespace equarx::report {

/// A picture of a topology, with what was measured on its links.
struct ReportPicture {
  std::string title;
  std::string svg;                        ///< a whole SVG file
  std::optional<std::size_t> row = {};    ///< index into the results' rows, if it is of one of them
  std::vector<std::size_t> sources = {};  ///< indices of those that have this topology
};

/// What a report page is made of.
struct ReportInput {
  std::string title;
  ReportResults results;
  std::vector<ReportPicture> pictures;
  std::string version;  ///< of this program
};

/// The whole page. No text of the input can become markup or script in it.
std::string make_report(const ReportInput& input);

/// The data of the page, a JSON text that may stand in a script element: it has no "<", ">" or "&".
std::string report_data(const ReportInput& input);

/// The page without title and data, which go where it says "{{title}}" and "{{data}}". Made of
/// tools/report/ when the program is built.
std::string_view report_template();

}  // namespace equarx::report
