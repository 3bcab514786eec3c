// The report: results as a self-contained HTML file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/results.hpp"

namespace equarx::report {

/// A picture of a topology, with the utilisation of its links, or of the streams of a step.
struct ReportPicture {
  std::string title;
  std::string svg;                        ///< a complete SVG file
  std::optional<std::size_t> row = {};    ///< index of the row that it belongs to, if any
  std::vector<std::size_t> sources = {};  ///< indices of the sources with this topology
};

/// Content of a report page.
struct ReportInput {
  std::string title;
  ReportResults results;
  std::vector<ReportPicture> pictures;
  std::string version;      ///< of this program
  std::string advice = {};  ///< text of `advise`, shown above the results; empty: none
};

/// Returns the complete page. Texts of the input cannot become markup or script.
std::string make_report(const ReportInput& input);

/// Returns the data of the page as JSON that is safe in a script element: without "<", ">" and "&".
std::string report_data(const ReportInput& input);

/// Returns the template of the page, with the placeholders "{{title}}" and "{{data}}". Generated
/// from tools/report/ at build time.
std::string_view report_template();

}  // namespace equarx::report
