// Symbol exported to the program that loads the module.
#include "sim/engines/simgrid/simulation.hpp"

extern "C" {
extern const equarx::sim::SimgridModule equarx_simgrid_module;
const equarx::sim::SimgridModule equarx_simgrid_module = {&equarx::sim::simulate_here};
}
