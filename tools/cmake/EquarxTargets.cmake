# Functions that declare every library, executable and test of the project.
include(GNUInstallDirs)

add_library(equarx_compile_options INTERFACE)
target_include_directories(equarx_compile_options INTERFACE "${PROJECT_SOURCE_DIR}")
if(EMSCRIPTEN)
  target_link_libraries(equarx_compile_options INTERFACE equarx_web)
endif()
# Contraction into fused multiply-adds would make values depend on the compiler.
target_compile_options(equarx_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -ffp-contract=off $<$<BOOL:${EQUARX_WERROR}>:-Werror>)
if(EQUARX_SANITIZE)
  target_compile_options(equarx_compile_options INTERFACE
    -fsanitize=${EQUARX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # g++ reports uninitialised variables in instrumented library code; these are false positives.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(equarx_compile_options INTERFACE -fsanitize=${EQUARX_SANITIZE})
endif()
if(EQUARX_SANITIZE MATCHES "fuzzer")
  # Branch coverage is enough to guide libFuzzer, which has the dictionary of each format; recording
  # each comparison, too, took a quarter of its time.
  target_compile_options(equarx_compile_options INTERFACE -fno-sanitize-coverage=trace-cmp,indirect-calls)
endif()

# Location of the module that is loaded on demand, found by the run path of programs.
set(equarx_module_dir "${PROJECT_BINARY_DIR}/lib")
set(equarx_module_install_dir "${CMAKE_INSTALL_LIBDIR}/equarx-sim")
set(CMAKE_BUILD_RPATH "${equarx_module_dir}")
file(RELATIVE_PATH equarx_from_bin
  "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${equarx_module_install_dir}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${equarx_from_bin}")

# The modules with the modules each may include: the one list for CMake, tests/check_modules.py and
# docs/architecture.md.
file(READ "${PROJECT_SOURCE_DIR}/tools/modules.json" equarx_modules)
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/modules.json")

# equarx_module_links(OUT): targets of the modules that the module of the current folder includes. Target names are
# equarx_<last part of the module's name>. Empty outside of modules.
function(equarx_module_links out)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE module)
  string(JSON count ERROR_VARIABLE missing LENGTH "${equarx_modules}" modules "${module}" includes)
  set(links)
  if(NOT missing AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON other GET "${equarx_modules}" modules "${module}" includes ${i})
      cmake_path(GET other FILENAME other)
      list(APPEND links "equarx_${other}")
    endforeach()
  endif()
  set(${out} ${links} PARENT_SCOPE)
endfunction()

# equarx_library(NAME SOURCES file... [LINKS target...] [PRIVATE_LINKS target...] [NATIVE_SOURCES file...]
#   [NATIVE_LINKS target...] [WEB_SOURCES file...] [COLD]): a module, which links the modules that tools/modules.json
# lists for its folder; LINKS and PRIVATE_LINKS add libraries and further targets.
# NATIVE_SOURCES and NATIVE_LINKS: only outside of browsers, which lack a library or processes; WEB_SOURCES: only there.
# COLD: code whose speed is unnoticeable, compiled with -O1 in release builds to save compile time.
function(equarx_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;LINKS;PRIVATE_LINKS;NATIVE_SOURCES;NATIVE_LINKS;WEB_SOURCES" ${ARGN})
  if(EMSCRIPTEN)
    list(APPEND ARG_SOURCES ${ARG_WEB_SOURCES})
  else()
    list(APPEND ARG_SOURCES ${ARG_NATIVE_SOURCES})
    list(APPEND ARG_PRIVATE_LINKS ${ARG_NATIVE_LINKS})
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT EMSCRIPTEN)  # clang 14 has wrong calls in such code for WebAssembly
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for loadable modules
  endif()
  equarx_module_links(modules)
  target_link_libraries(${name} PUBLIC equarx_compile_options ${modules} ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  if(ARG_COLD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${EMSCRIPTEN}>,-Os,-O1>>)
  endif()
endfunction()

# equarx_header_library(NAME [LINKS target...]): a module of headers only.
function(equarx_header_library name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_library(${name} INTERFACE)
  equarx_module_links(modules)
  target_link_libraries(${name} INTERFACE equarx_compile_options ${modules} ${ARG_LINKS})
endfunction()

# Test code runs for a moment and compiles for minutes: -O1 takes clang twice as long as -O0, g++ a
# fifth longer than -Og. -fpch-preprocess lets ccache work with precompiled headers.
set(equarx_test_options
  $<$<CXX_COMPILER_ID:GNU>:-Og> $<$<CXX_COMPILER_ID:Clang>:-O0> $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# equarx_long(TEST...): tests of about five seconds or more. They start first, so that no core waits
# for them at the end; everyday runs (tools/test.sh) leave them to tools/check.sh.
function(equarx_long)
  set_property(TEST ${ARGV} APPEND PROPERTY LABELS long)
  set_property(TEST ${ARGV} PROPERTY COST 30)
endfunction()

# equarx_test(NAME SOURCES file... [LINKS target...] [OPTIMISED] [LONG]): one Catch2 program, one
# CTest test per case.
# Test code is compiled with little optimisation, and with the test framework's headers precompiled
# once for all programs (tests/CMakeLists.txt); OPTIMISED is for tests of headers that must be
# correct when optimised. LONG: cases with the tag [long] become equarx_long().
function(equarx_test name)
  cmake_parse_arguments(ARG "OPTIMISED;LONG" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # Each test file's body is in a namespace of its own (check_mirror.py), for unity builds.
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 30)
  if(NOT ARG_OPTIMISED)
    target_compile_options(${name} PRIVATE ${equarx_test_options})
    target_precompile_headers(${name} REUSE_FROM equarx_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE equarx_compile_options equarx_catch_main ${ARG_LINKS})
  target_compile_definitions(${name} PRIVATE
    EQUARX_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    EQUARX_CONFIGS_DIR="${PROJECT_SOURCE_DIR}/configs")
  # A test name that selects no case, such as one with a semicolon, fails; Catch2 3 does so by
  # itself.
  set(no_test_fails)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_test_fails EXTRA_ARGS --warn NoTests)
  endif()
  set(timeout 300)
  if(EQUARX_SANITIZE)  # several times slower
    set(timeout 900)
  endif()
  set(cases TEST_PREFIX "${name}: " ${no_test_fails} PROPERTIES TIMEOUT ${timeout})
  catch_discover_tests(${name} TEST_SPEC "~[.]~[long]" ${cases})
  if(ARG_LONG)
    catch_discover_tests(${name} TEST_SPEC "[long]" ${cases} LABELS long COST 30)
  endif()
endfunction()

# equarx_benchmark(NAME SOURCES file... [LINKS target...]): one Google Benchmark program, built by target `benchmarks`
# only.
function(equarx_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  add_dependencies(benchmarks ${name})
  target_link_libraries(${name} PRIVATE equarx_compile_options benchmark::benchmark ${ARG_LINKS})
endfunction()
