#include "models/values/quantizer_nmse.hpp"

#include <algorithm>

#include "models/collectives/exchange_program.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::values {

double measured_quantizer_nmse(const numerics::BlockFormat& format, std::uint64_t elements,
                               const numerics::InputSpec& inputs) {
  constexpr std::uint64_t kAbout = 1 << 17;
  constexpr std::uint32_t kRanks = 2;
  const std::uint64_t minishard = elements * numerics::kRegisterElements;
  const auto minishards =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kAbout / minishard));
  const std::uint64_t tensor = minishard * minishards * kRanks;
  const collectives::Program program = collectives::make_direct_exchange(
      collectives::Collective::all_gather, kRanks, tensor, numerics::ElementFormat::fp32,
      {format, format, {minishards, 1}});
  const TensorSource source(inputs, tensor, numerics::ElementFormat::fp32);
  return execute(program, source, {.threads = 1, .counts = false, .traffic = false})
      .against_exact.nmse;
}

}  // namespace equarx::values
