#include "experiments/config/request_trace.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::request_trace_test {
namespace {

using testing::TemporaryFile;

std::vector<serving::Request> read(const std::string& text) {
  const TemporaryFile file(text);
  return read_request_trace(file.path());
}

/// Checks for an error in a line of the file; line 0: the whole file.
void check_line(const std::string& text, int line, const std::string& remedy) {
  const TemporaryFile file(text);
  CAPTURE(text);
  const std::string place =
      line == 0 ? file.path() : file.path() + ", line " + std::to_string(line);
  testing::check_refused([&] { read_request_trace(file.path()); }, place, remedy);
}

TEST_CASE("requests are sorted, and count from the first arrival") {
  const auto requests = read("arrival_s,prompt,output\n12.5,30,4\n\n10,20,3\r\n");
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].arrival_s == 0.0);
  CHECK(requests[0].prompt == 20);
  CHECK(requests[0].output == 3);
  CHECK(requests[1].arrival_s == 2.5);
  CHECK(requests[1].prompt == 30);
}

TEST_CASE("columns of published traces are found by name") {
  // Azure: dates, in any column order. BurstGPT and Vidur: seconds.
  const auto azure = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 23:59:59.5000000,100,7\n2023-11-17 00:00:01.25,200,8\n");
  REQUIRE(azure.size() == 2);
  CHECK(azure[1].arrival_s == Approx(1.75).margin(1e-6));
  CHECK(azure[1].prompt == 200);
  const auto burst = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,0,1087,Conversation log\n");
  REQUIRE(burst.size() == 1);  // without output: left out
  CHECK(burst[0].prompt == 472);
  CHECK(burst[0].output == 18);
  const auto vidur = read("arrived_at,num_prefill_tokens,num_decode_tokens\n0.25,10,1\n1.5,11,2\n");
  REQUIRE(vidur.size() == 2);
  CHECK(vidur[1].arrival_s == 1.25);
  CHECK(vidur[1].output == 2);
}

TEST_CASE("prefixes of equal names are equal texts") {
  const auto requests = read(
      "arrival_s,prompt,output,prefix,prefix_tokens\n"
      "0,30,1,chat,20\n1,30,1,code,10\n2,25,1,chat,20\n3,25,1,,0\n");
  REQUIRE(requests.size() == 4);
  CHECK(requests[0].prefix == requests[2].prefix);
  CHECK(requests[0].prefix != requests[1].prefix);
  CHECK(requests[1].prefix_tokens == 10);
  CHECK(requests[3].prefix_tokens == 0);
  check_line("arrival_s,prompt,output,prefix\n", 1, "name it \"prefix_tokens\"");
  check_line("arrival_s,prompt,output,prefix_tokens\n", 1, "name it \"prefix\"");
  const std::string header = "arrival_s,prompt,output,prefix,prefix_tokens\n";
  check_line(header + "0,30,1,chat,31\n", 2, "longer than its prompt");
  check_line(header + "0,30,1,chat,x\n", 2, "number of tokens from 0");
}

TEST_CASE("invalid lines are refused with their number") {
  const std::string header = "arrival_s,prompt,output\n";
  check_line("", 0, "is empty");
  check_line(header, 0, "no request");
  check_line(header + "0,10,0\n", 0, "no request");
  check_line("arrival_s,prompt\n0,1\n", 1, "name it \"output\"");
  check_line("time,prompt,output\n0,1,1\n", 1, "name it \"arrival_s\"");
  check_line(header + "0,10\n", 2, "has 2 columns; the header has 3");
  check_line(header + "0,10,2\n-1,10,2\n", 3, "the arrival -1 is negative");
  check_line(header + "soon,10,2\n", 2, "neither a number of seconds nor a date");
  check_line(header + "2023-13-16 18:15:46,10,2\n", 2, "nor a date");
  check_line(header + "2023-02-29 18:15:46,10,2\n", 2, "nor a date");
  check_line(header + "2023-11-16 18:75:46,10,2\n", 2, "nor a date");
  check_line(header + "2023-11-16 18:15:-6,10,2\n", 2, "nor a date");
  check_line(header + "nan,10,2\n", 2, "nor a date");
  check_line(header + "0,0,2\n", 2, "the prompt \"0\" is not a number of tokens from 1");
  check_line(header + "0,1.5,2\n", 2, "the prompt \"1.5\"");
  check_line(header + "0,1,-2\n", 2, "the output \"-2\"");
  check_line(header + "0,1e10,2\n", 2, "the prompt \"1e10\"");
}

TEST_CASE("a trace that cannot be read is refused") {
  CHECK(testing::message_of([] { read_request_trace("/no/such/trace.csv"); }) ==
        "cannot read /no/such/trace.csv: No such file or directory");
}

}  // namespace
}  // namespace equarx::config::request_trace_test
