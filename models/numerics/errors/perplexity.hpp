// Expected effect of a communication error on a model.
#pragma once

#include <string>

namespace equarx::numerics {

/// Growth of perplexity to expect from sums of activations with this NMSE, by docs/quality.md, measured
/// on three models of 1.07 million weights: 1.0 to 1.6 times the NMSE between 1e-3 and 5e-2, up to 2.1
/// times from 3e-4 on, less than 0.1 % up to 3e-4. Without a trailing period.
std::string perplexity_text(double nmse);

}  // namespace equarx::numerics
