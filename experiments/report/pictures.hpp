// Pictures of a report's results: their topologies, with what crossed their links, and the streams of steps.
#pragma once

#include <vector>

#include "experiments/report/report.hpp"

namespace equarx::report {

/// One picture for each run that has its links (`run --json --links`, simulated chip by chip), one for each variant of a
/// step, of its streams, and one for each other configuration, of its topology alone; of configurations that this program can read, and at most
/// `most` pictures. What is left out becomes a note of the results.
std::vector<ReportPicture> make_pictures(ReportResults& results, std::size_t most);

/// Fills in the parameters of the chips of results that do not have them, from the hardware that their
/// configurations name.
void fill_in_parameters(ReportResults& results);

}  // namespace equarx::report
