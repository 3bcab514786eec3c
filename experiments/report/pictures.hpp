// Pictures of a report: topologies with the utilisation of their links, and the streams of steps.
#pragma once

#include <vector>

#include "experiments/report/report.hpp"

namespace equarx::report {

/// Draws a picture for each run that has all links of its topology (`run --json --links` of all
/// chips), for each variant of a step, with its streams, and for each other topology.
/// Configurations that cannot be read are skipped. At most `most` pictures are drawn; a note of the
/// results counts those left out.
std::vector<ReportPicture> make_pictures(ReportResults& results, std::size_t most);

/// Fills in missing parameters of chips from the hardware that the configurations name.
void fill_in_parameters(ReportResults& results);

}  // namespace equarx::report
