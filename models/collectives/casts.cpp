#include "models/collectives/casts.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/collectives/all_tiles.hpp"
#include "models/collectives/amax_exchange.hpp"
#include "models/collectives/validate.hpp"

namespace equarx::collectives {

Program with_casts(Program program, numerics::ElementFormat from, bool rotated, Casts casts) {
  if (program.cast_from) throw std::logic_error("the program already has casts");
  program.cast_from = from;
  program.rotated = rotated;
  program.casts = casts;
  const Collective collective = program.collective;
  const RankRange inputs = collective == Collective::broadcast ? RankRange{0, 0} : RankRange{};
  const bool shard_only = collective == Collective::all_gather;
  std::vector<Instruction> inner = std::exchange(program.instructions, {});
  const auto append = [&](const std::vector<Instruction>& more) {
    std::ranges::copy(more, std::back_inserter(program.instructions));
  };
  if (numerics::has_shared_scale(program.format(Phase::reduce_scatter))) {
    append(on_all_tiles(program, Op::find_amax, shard_only, inputs));
    append_amax_exchange(program);
  }
  append(on_all_tiles(program, Op::cast, shard_only, inputs));
  append(inner);
  append(on_all_tiles(program, Op::cast_back, collective == Collective::reduce_scatter, {}));
  validate(program);
  return program;
}

}  // namespace equarx::collectives
