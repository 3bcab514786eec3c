#include "experiments/accuracy/question.hpp"

#include <cstddef>
#include <utility>

namespace equarx::accuracy {
namespace {

/// Names in files and in texts, in the order of the enumeration.
constexpr std::array<std::pair<std::string_view, std::string_view>, kQuestions.size()> kNames = {{
    {"tpu-collective", "plain collectives on TPUs, from 1 MiB"},
    {"small-tpu-collective", "plain collectives on TPUs, below 1 MiB"},
    {"gpu-collective", "plain collectives on GPUs, from 1 MiB"},
    {"small-gpu-collective", "plain collectives on GPUs, below 1 MiB"},
    {"quantized-tpu", "speedups of quantized collectives on TPUs"},
    {"quantized-gpu", "quantized collectives on GPUs"},
    {"schedule", "imported schedules"},
    {"serving", "prefills and decoding steps"},
    {"served-load", "latencies and rates of served loads"},
    {"training", "training steps in bf16"},
    {"low-precision", "training steps with FP8 or int8 GEMMs"},
    {"expert-training", "training steps of models with experts"},
    {"program", "imported programs"},
    {"kernel", "GEMMs, passes and attention of GPUs"},
}};

}  // namespace

std::string_view name(Question question) {
  return kNames.at(static_cast<std::size_t>(question)).first;
}

std::string_view description(Question question) {
  return kNames.at(static_cast<std::size_t>(question)).second;
}

}  // namespace equarx::accuracy
