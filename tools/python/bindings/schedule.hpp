#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "experiments/request/request.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {

/// Schedule and Writer: algorithms whose programs Python writes.
void bind_schedule(pybind11::module_& core);

/// Adds the schedules of a list to a request, which keeps them.
void add_schedules(const pybind11::list& schedules, request::Request& request);

/// Plans a request by `work`. Schedules are called in the calling thread, so that their exceptions
/// and Ctrl-C reach the caller; other plans do not hold up Ctrl-C.
template <typename Work>
auto plan_request(const request::Request& request, Work work) {
  if (request.algorithms.empty())
    return without_interpreter([request, work](const StopFlag&) { return work(request); });
  const pybind11::gil_scoped_release release;
  return work(request);
}

/// A plan that keeps the algorithms of its request.
template <typename Plan>
std::shared_ptr<const Plan> keep_algorithms(const request::Request& request, Plan plan) {
  const auto both = std::make_shared<const std::pair<decltype(request.algorithms), Plan>>(
      request.algorithms, std::move(plan));
  return {both, &both->second};
}

}  // namespace equarx::python
