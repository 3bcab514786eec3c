// Catch2 2 (Debian 12) and Catch2 3 name their headers differently; tests include this one.
#pragma once

// An exception inside an assertion is then reported of the test, and not of the assertion. That is worth some per cent of
// the time that tests take to compile.
#define CATCH_CONFIG_FAST_COMPILE

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif
