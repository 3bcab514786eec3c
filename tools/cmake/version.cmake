# cmake -DSOURCE=tree -DRELEASE=0.2.0 -DOUT=file.cpp -P version.cmake
# Writes a source file with the version of the program built from this tree, as a semantic version:
#   0.2.0                     the release: the commit with the tag v0.2.0, or its archive
#   0.2.0+g2e1349b            another commit, by its hash
#   0.2.0+g2e1349b.dirty.1a2b3c4d   the commit with changes; 1a2b3c4d is their hash
# Runs at every build; the file is left alone while the version is unchanged.

cmake_minimum_required(VERSION 3.25)

# Sources of the program. Changes to documents, tests and studies do not change the version.
set(made_from CMakeLists.txt tools/cmake base importers tools/cli tools/report topologies models sim configs/hardware configs/models
  configs/schema ":(glob)experiments/**/*.[ch]pp" ":(glob)experiments/**/CMakeLists.txt")

function(git out)
  # The owner of the tree may be another user, as in a container.
  execute_process(COMMAND "${GIT_EXECUTABLE}" -c safe.directory=* ${ARGN} WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(text "")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# A hash of all uncommitted changes; empty if there are none.
function(hash_of_changes out)
  git(changes diff HEAD --no-ext-diff --binary -- ${made_from})
  git(new_files ls-files --others --exclude-standard -- ${made_from})
  string(REPLACE "\n" ";" new_files "${new_files}")
  foreach(file IN LISTS new_files)
    file(SHA1 "${SOURCE}/${file}" content)
    string(APPEND changes "\n${file} ${content}")
  endforeach()
  if(NOT changes STREQUAL "")
    string(SHA1 hash "${changes}")
    string(SUBSTRING "${hash}" 0 8 changes)
  endif()
  set(${out} "${changes}" PARENT_SCOPE)
endfunction()

find_program(GIT_EXECUTABLE git)
set(tags "")
set(commit "")
set(changes "")
if(GIT_EXECUTABLE AND EXISTS "${SOURCE}/.git")
  git(commit rev-parse HEAD)
  git(tags tag --points-at HEAD)
  hash_of_changes(changes)
elseif(EXISTS "${SOURCE}/tools/cmake/archive.txt")
  # `git archive` has put the commit and its tags there.
  file(READ "${SOURCE}/tools/cmake/archive.txt" archive)
  string(REGEX MATCH "commit ([0-9a-f]+)" found "${archive}")
  set(commit "${CMAKE_MATCH_1}")
  string(REGEX MATCHALL "[^ ,:()\n]+" tags "${archive}")
endif()

set(version "${RELEASE}")
string(REGEX MATCHALL "[^\n;]+" tags "${tags}")
if(commit AND (changes OR NOT "v${RELEASE}" IN_LIST tags))
  string(SUBSTRING "${commit}" 0 7 commit)
  string(APPEND version "+g${commit}")
  if(changes)
    string(APPEND version ".dirty.${changes}")
  endif()
endif()

set(text "#include \"base/output/version.hpp\"\n\nnamespace equarx::output {\n\nstd::string_view version() { return \"${version}\"; }\n\n}  // namespace equarx::output\n")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT text STREQUAL before)
  file(WRITE "${OUT}" "${text}")
endif()
