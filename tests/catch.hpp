// Catch2 2 (Debian 12) and Catch2 3 name their headers differently; tests include this one.
#pragma once

// An exception inside an assertion is reported of the test and no longer of the assertion, which most tests need not
// pay a tenth of their compile time for.
#define CATCH_CONFIG_FAST_COMPILE

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif
