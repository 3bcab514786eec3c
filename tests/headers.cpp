// Nothing: CMake precompiles headers for a target that compiles something.
