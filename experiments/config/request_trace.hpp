// Traces of requests as CSV files.
#pragma once

#include <string>
#include <vector>

#include "models/serving/requests.hpp"

namespace equarx::config {

/// Reads a CSV file with a header line and a line per request: its arrival (s, or date and time),
/// the tokens of its prompt and of its output. Columns are found by name: arrival_s, prompt, output;
/// or as in published traces: TIMESTAMP, ContextTokens, GeneratedTokens (Azure), Timestamp,
/// Request tokens, Response tokens (BurstGPT), num_prefill_tokens, num_decode_tokens (Vidur). Others
/// are ignored. Arrivals are relative to the first; requests are sorted by them, and those without
/// output are left out.
/// @throws input::UserError with file and line if a column is missing or a value is invalid
std::vector<serving::Request> read_request_trace(const std::string& path);

}  // namespace equarx::config
