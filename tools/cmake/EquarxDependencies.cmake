# Every package that the project uses, found in one place. `tools/setup.sh` installs them on Debian.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(hwy 1.0.3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(simgrid REQUIRED IMPORTED_TARGET simgrid>=3.32)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash>=0.8)
find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED)

# Third-party headers are system headers: our warnings are about our code.
add_library(equarx_valijson INTERFACE)
target_include_directories(equarx_valijson SYSTEM INTERFACE "${VALIJSON_INCLUDE_DIR}")

if(EQUARX_TESTS)
  find_package(Catch2 REQUIRED)
  include(Catch)
  find_package(rapidcheck REQUIRED)
endif()
if(EQUARX_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
