// The JSON library, for source files. Headers get along with its declarations (object_reader.hpp).
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/input/object_reader.hpp"
