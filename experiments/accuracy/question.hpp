// Classes of questions whose answers have been compared with measurements.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace equarx::accuracy {

/// Figure of a row or a run, by what determines its error. Sizes are bytes of the tensor.
enum class Question : std::uint8_t {
  tpu_collective,        ///< time of a plain collective on TPUs, from kSmall on
  small_tpu_collective,  ///< the same, smaller
  gpu_collective,        ///< time of a plain collective on GPUs, from kSmall on
  small_gpu_collective,  ///< the same, smaller
  quantized_tpu,         ///< speedup of a quantized collective on TPUs
  quantized_gpu,         ///< time or speedup of a quantized collective on GPUs
  schedule,              ///< time of an imported schedule
  serving,               ///< time of a prefill or a decoding step
  served_load,           ///< latency or rate of a served model under a load
  training,              ///< time of a training step in bf16
  low_precision,         ///< time or speedup of a training step with FP8 or int8 GEMMs
  expert_training,       ///< time of a training step of a model with experts
  program,               ///< time of an imported program
  kernel,                ///< time of one GEMM, pass, cast or attention
};

/// All questions, in the order of reports.
inline constexpr std::array kQuestions = {Question::tpu_collective, Question::small_tpu_collective,
                                          Question::gpu_collective, Question::small_gpu_collective,
                                          Question::quantized_tpu,  Question::quantized_gpu,
                                          Question::schedule,       Question::serving,
                                          Question::served_load,    Question::training,
                                          Question::low_precision,  Question::expert_training,
                                          Question::program,        Question::kernel};

/// Size in bytes below which startup dominates a collective.
inline constexpr double kSmall = 1024.0 * 1024.0;

/// Returns the name in files: "tpu-collective", "low-precision".
std::string_view name(Question question);

/// Returns the name in texts: "plain collectives on TPUs, from 1 MiB".
std::string_view description(Question question);

}  // namespace equarx::accuracy
