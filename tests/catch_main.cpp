#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>  // Catch2WithMain brings the main function
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
