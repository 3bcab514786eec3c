// Catch2 2 (Debian 12) and Catch2 3 name their headers differently; tests include this one.
#pragma once

// So an exception inside an assertion is reported of the test, and not of the assertion, and tests take some per cent less
// time to compile.
#define CATCH_CONFIG_FAST_COMPILE

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif
