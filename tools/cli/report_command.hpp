// equarx-sim report: results as one page to look at.
#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// Of `equarx-sim report`.
struct ReportArguments {
  std::vector<std::string> results;    ///< files of `run --json` and of `sweep`, in any mix
  std::string output = "report.html";  ///< the HTML file
  std::string title;                   ///< empty: the names of the files
};

/// Writes the page, whole or not at all. What its reader must know about the files goes to standard
/// error as well, a line each.
/// @throws input::InputError if a file holds no results, or the page cannot be written.
void report(const ReportArguments& arguments);

}  // namespace equarx::cli
