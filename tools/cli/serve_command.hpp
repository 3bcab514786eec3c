// equarx-sim serve: runs for another program, one after the other. Not for people, so help and pages do not name it.
#pragma once

namespace equarx::cli {

/// Answers requests on standard input, one JSON object a line, by one line each on standard output, until standard
/// input ends. First of all it writes a line with its version. SimGrid is loaded once, and simulations are forked from
/// there.
///
/// A request has `config` and may have the other members of request::Request: `overrides`, a list of pairs of pointer
/// and text; `links`, `uncertainty`, `sensitivity`, `tensors`, `inputs`; and `folder`, which relative paths begin at. An
/// answer has `result`, `table` and `tensors`, as request::Answer; or `error`: `kind` is "input" or "internal",
/// `pointer` and `message` are those of the exception.
void serve();

}  // namespace equarx::cli
