// Shared configurations of the advise tests.
#pragma once

#include <cmath>
#include <string>

#include "base/input/json.hpp"
#include "experiments/advise/advise.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::advise {

inline input::Json on_slice(const std::string& slice, const std::string& bytes) {
  input::Json json = testing::good_config();
  json["topology"] = {{"slice", slice}};
  json["tensor"] = {{"bytes", bytes}};
  return json;
}

inline tune::TuneOptions at_least(double sqnr_db) {
  tune::TuneOptions options;
  options.formats = {"int8"};
  options.limits.max_nmse = std::pow(10.0, -sqnr_db / 10.0);
  return options;
}

inline Advice advice_on(const input::Json& json, double sqnr_db = 30.0) {
  return advise(config::read_config(json), at_least(sqnr_db), [](const std::string&) {});
}

}  // namespace equarx::advise
