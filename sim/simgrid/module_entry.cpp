// What the module shows to the program that loads it.
#include "sim/simgrid/simulation.hpp"

extern "C" {
extern const equarx::sim::SimgridModule equarx_simgrid_module;
const equarx::sim::SimgridModule equarx_simgrid_module = {&equarx::sim::simulate_here};
}
