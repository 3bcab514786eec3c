# Dependencies of the build for WebAssembly (Emscripten): headers of the host's packages, and a C++20 standard library.
#
# Emscripten 3.1.6 of Debian 12 has libc++ 13, without ranges. Its clang 14 reads libc++ 16 (libc++-16-dev-wasm32), of the
# same ABI, and the few functions that libc++ 13 lacks are linked from there. Headers of the C++ standard that libc++ 16
# lacks parts of are in tools/playground/standard.
set(web "${PROJECT_BINARY_DIR}/web")
set(libcxx /usr/lib/llvm-16)
if(NOT EXISTS "${libcxx}/include/wasm32-wasi/c++/v1/ranges")
  message(FATAL_ERROR "no libc++ 16 for WebAssembly; on Debian: apt-get install libc++-16-dev-wasm32")
endif()
if(NOT EXISTS "${web}/c++/ranges")
  file(COPY "${libcxx}/include/wasm32-wasi/c++/v1/" DESTINATION "${web}/c++")
endif()
# Emscripten has files, and the interface of threads.
file(READ "${libcxx}/include/wasm32-wasi/c++/v1/__config_site" site)
string(REPLACE "#define _LIBCPP_HAS_NO_FILESYSTEM_LIBRARY" "" site "${site}")
string(REPLACE "#define _LIBCPP_HAS_NO_THREADS" "#define _LIBCPP_HAS_THREAD_API_PTHREAD" site "${site}")
file(CONFIGURE OUTPUT "${web}/c++/__config_site" CONTENT "${site}" @ONLY)
set(more "${web}/libc++more.a")
if(NOT EXISTS "${more}")
  set(members charconv.cpp.o d2fixed.cpp.o d2s.cpp.o f2s.cpp.o verbose_abort.cpp.o)
  file(MAKE_DIRECTORY "${web}/objects")
  execute_process(COMMAND "${CMAKE_AR}" x "${libcxx}/lib/wasm32-wasi/libc++.a" ${members}
    WORKING_DIRECTORY "${web}/objects" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_AR}" rcs "${more}" ${members}
    WORKING_DIRECTORY "${web}/objects" COMMAND_ERROR_IS_FATAL ANY)
endif()

# Only these headers of the host: its C library must not be found.
file(MAKE_DIRECTORY "${web}/include")
foreach(name boost cereal CLI fmt hwy nlohmann tl valijson xxhash.h xxh3.h)
  if(NOT EXISTS "/usr/include/${name}")
    message(FATAL_ERROR "no headers ${name}; on Debian: bash tools/setup.sh")
  endif()
  file(CREATE_LINK "/usr/include/${name}" "${web}/include/${name}" SYMBOLIC)
endforeach()

add_library(equarx_web INTERFACE)
target_compile_options(equarx_web INTERFACE -fwasm-exceptions -nostdinc++ -D_LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION "SHELL:-isystem ${PROJECT_SOURCE_DIR}/tools/playground/standard"
  "SHELL:-isystem ${web}/c++" "SHELL:-isystem ${web}/include")
foreach(name fmt::fmt nlohmann_json::nlohmann_json hwy::hwy cereal::cereal tl::expected CLI11::CLI11 Boost::boost
    Threads::Threads PkgConfig::xxhash equarx_valijson)
  if(name MATCHES "::")
    add_library(${name} INTERFACE IMPORTED)
  else()
    add_library(${name} INTERFACE)
  endif()
endforeach()
target_compile_definitions(PkgConfig::xxhash INTERFACE XXH_INLINE_ALL)
target_link_options(equarx_web INTERFACE -fwasm-exceptions)
target_link_libraries(equarx_web INTERFACE c++-except "${more}")
