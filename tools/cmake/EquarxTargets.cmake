# How every library, executable and test of the project is declared.
include(GNUInstallDirs)

add_library(equarx_compile_options INTERFACE)
target_include_directories(equarx_compile_options INTERFACE "${PROJECT_SOURCE_DIR}")
# Contraction into fused multiply-adds would make values depend on the compiler.
target_compile_options(equarx_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -ffp-contract=off $<$<BOOL:${EQUARX_WERROR}>:-Werror>)
if(EQUARX_SANITIZE)
  target_compile_options(equarx_compile_options INTERFACE
    -fsanitize=${EQUARX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # g++ sees uninitialised variables in instrumented library code that are not there.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(equarx_compile_options INTERFACE -fsanitize=${EQUARX_SANITIZE})
endif()
if(EQUARX_SANITIZE MATCHES "fuzzer")
  # Which branches an input takes is enough to guide libFuzzer, which has the words of each format; to note each
  # comparison, too, took a quarter of its time.
  target_compile_options(equarx_compile_options INTERFACE -fno-sanitize-coverage=trace-cmp,indirect-calls)
endif()

# Where the module stands that is loaded when it is needed, and how programs find it: by their run path.
set(equarx_module_dir "${PROJECT_BINARY_DIR}/lib")
set(equarx_module_install_dir "${CMAKE_INSTALL_LIBDIR}/equarx-sim")
set(CMAKE_BUILD_RPATH "${equarx_module_dir}")
file(RELATIVE_PATH equarx_from_bin
  "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${equarx_module_install_dir}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${equarx_from_bin}")

# equarx_library(NAME SOURCES file... [LINKS target...] [PRIVATE_LINKS target...])
# Target names are equarx_<module>. A module reaches another only by naming it in LINKS.
function(equarx_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for modules
  target_link_libraries(${name}
    PUBLIC equarx_compile_options ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()

# equarx_header_library(NAME [LINKS target...]): a module that is headers alone.
function(equarx_header_library name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE equarx_compile_options ${ARG_LINKS})
endfunction()

# Test code runs for a moment and is compiled for minutes: -O1 takes clang twice as long as -O0, g++ a fifth longer than
# -Og. -fpch-preprocess lets ccache see through precompiled headers.
set(equarx_test_options
  $<$<CXX_COMPILER_ID:GNU>:-Og> $<$<CXX_COMPILER_ID:Clang>:-O0> $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# equarx_long(TEST...): tests that take some five seconds or more. They begin first, so that no core waits for them in
# the end; and everyday runs (tools/test.sh) leave them to tools/check.sh.
function(equarx_long)
  set_property(TEST ${ARGV} APPEND PROPERTY LABELS long)
  set_property(TEST ${ARGV} PROPERTY COST 30)
endfunction()

# equarx_test(NAME SOURCES file... [LINKS target...] [OPTIMISED] [LONG]): one Catch2 program, one CTest test per case.
# Test code is compiled quickly, unless what it tests lies in headers that must hold when optimised: hardly optimised, and
# with the headers of the test framework read once for all programs (tests/CMakeLists.txt). LONG: there are cases with
# the tag [long], which are equarx_long().
function(equarx_test name)
  cmake_parse_arguments(ARG "OPTIMISED;LONG" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # Unity builds compile eight test files at a time: each file's body is in a namespace of its own (check_mirror.py).
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  if(NOT ARG_OPTIMISED)
    target_compile_options(${name} PRIVATE ${equarx_test_options})
    target_precompile_headers(${name} REUSE_FROM equarx_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE equarx_compile_options equarx_catch_main ${ARG_LINKS})
  target_compile_definitions(${name} PRIVATE
    EQUARX_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    EQUARX_CONFIGS_DIR="${PROJECT_SOURCE_DIR}/configs")
  # A name that finds no test, as one with a semicolon, fails; Catch2 3 does so by itself.
  set(no_test_fails)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_test_fails EXTRA_ARGS --warn NoTests)
  endif()
  set(cases TEST_PREFIX "${name}: " ${no_test_fails} PROPERTIES TIMEOUT 300)
  catch_discover_tests(${name} TEST_SPEC "~[.]~[long]" ${cases})
  if(ARG_LONG)
    catch_discover_tests(${name} TEST_SPEC "[long]" ${cases} LABELS long COST 30)
  endif()
endfunction()

# equarx_benchmark(NAME SOURCES file... [LINKS target...]): one Google Benchmark program.
function(equarx_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE equarx_compile_options benchmark::benchmark ${ARG_LINKS})
endfunction()
