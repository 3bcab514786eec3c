#include "tools/keys/documents.hpp"

#include <array>

#include "experiments/calibrate/task.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/config/scheme_json.hpp"
#include "experiments/config/serving_json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/sweep.hpp"
#include "tools/keys/metrics.hpp"

namespace equarx::keys {

std::span<const Document> documents() {
  static const std::array all = {
      Document{"calibration", "equarx-sim calibration",
               "Measurements of a chip, and the parameters to fit to them",
               calibrate::calibration_schema},
      Document{"experiment", "equarx-sim experiment",
               "A machine, a tensor, and the collectives to compare on them. Quantities are "
               "strings with their unit.",
               config::experiment_schema},
      Document{
          "format", "equarx-sim format",
          "A number format of a stored tensor: elements, groups, scales (docs/stored_formats.md)",
          config::stored_format_schema},
      Document{"hardware", "equarx-sim hardware",
               "One chip type and its links. Every parameter has a source.",
               config::hardware_schema},
      Document{"model", "equarx-sim model",
               "The shape of a decoder-only transformer with grouped-query attention and rotary "
               "positions.",
               config::model_schema},
      Document{"plan", "equarx-sim capacity plan",
               "Result of 'equarx-sim plan --json' (docs/serving.md)", plan_schema},
      Document{"scheme", "equarx-sim GEMM scheme",
               "A GEMM of quantized operands: formats, unit, place of the scales (docs/gemm.md)",
               config::scheme_schema},
      Document{"served", "equarx-sim served load",
               "Result of 'equarx-sim serve --json' (docs/serving.md)", served_schema},
      Document{"serving", "equarx-sim serving",
               "A served model under a load: replicas, scheduler, requests (docs/serving.md)",
               config::serving_schema},
      Document{"step", "equarx-sim step",
               "A whole step of every chip: computing and collectives as a graph of tasks "
               "(docs/steps.md)",
               config::step_schema},
      Document{"study", "equarx-sim study",
               "Sweeps, and the expected values of some of their points", study::study_schema},
      Document{"sweep", "equarx-sim sweep",
               "A configuration, and the values that some of its keys take in turn: all "
               "combinations of the axes.",
               sweep::sweep_schema},
      Document{"topology", "equarx-sim graph of chips",
               "Chips and the links that join them: any graph. Quantities are strings with their "
               "unit.",
               config::graph_schema},
  };
  return all;
}

}  // namespace equarx::keys
