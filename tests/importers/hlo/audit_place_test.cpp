#include "importers/hlo/audit_place.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::audit_place_test {
namespace {

std::string place_of(const std::string& metadata, const std::string& tables = "") {
  const std::string text = "HloModule m\n\n" + tables +
                           "ENTRY %main () -> f32[] {\n  ROOT %p = f32[] parameter(0)" + metadata +
                           "\n}\n";
  const Module module = parse_module(text);
  return Places(text).of(testing::instruction_of(module, "p"));
}

const std::string kTables =
    "FileNames\n1 \"lib.py\"\n2 \"train.py\"\n\nFunctionNames\n1 \"main\"\n\nFileLocations\n"
    "1 {file_name_id=2 function_name_id=1 line=27 end_line=28 column=4 end_column=8}\n\n"
    "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n";

TEST_CASE("a place is a source line, from metadata or the tables of stack frames") {
  CHECK(place_of(", metadata={op_name=\"a\" source_file=\"/x/train.py\" source_line=12}") ==
        "/x/train.py:12");
  CHECK(place_of(", metadata={op_name=\"a\" source_file=\"train.py\"}") == "train.py");
  CHECK(place_of(", metadata={op_name=\"a\" stack_frame_id=1}", kTables) == "train.py:27");
}

TEST_CASE("without a source line the line of the program is given") {
  CHECK(place_of("") == "line 4 of the program");
  CHECK(place_of(", metadata={op_name=\"a\" stack_frame_id=1}") == "line 4 of the program");
  CHECK(place_of(", metadata={op_name=\"a\" stack_frame_id=7}", kTables) ==
        "line 17 of the program");
  CHECK(place_of(", metadata={op_name=\"stack_frame_id=1\"}") == "line 4 of the program");
}

}  // namespace
}  // namespace equarx::hlo::audit_place_test
