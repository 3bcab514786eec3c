# Generates the source file of the report's page from tools/report/ and the chart library from npm.
# Without npm or a network the page is generated without the library, with a notice. npm verifies
# its download against package-lock.json, and every build verifies the embedded files against
# tools/report/library.sha256.
set(report_page_dir "${PROJECT_SOURCE_DIR}/tools/report")
set(report_npm_dir "${PROJECT_BINARY_DIR}/report_npm")
set(report_library "${report_npm_dir}/node_modules/uplot")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${report_page_dir}/package.json" "${report_page_dir}/package-lock.json")

# Downloads when configuring, not when building, so that the next configuration retries after a
# failure.
set(report_lock "")
if(EXISTS "${report_npm_dir}/installed-lock.json")
  file(READ "${report_npm_dir}/installed-lock.json" report_lock)
endif()
file(READ "${report_page_dir}/package-lock.json" report_wanted_lock)
if(NOT report_lock STREQUAL report_wanted_lock)
  file(COPY "${report_page_dir}/package.json" "${report_page_dir}/package-lock.json"
    DESTINATION "${report_npm_dir}")
  find_program(NPM_EXECUTABLE npm)
  set(report_npm_result "npm is not installed (Debian: apt-get install npm)")
  if(NPM_EXECUTABLE)
    execute_process(
      COMMAND "${NPM_EXECUTABLE}" ci --ignore-scripts --no-audit --no-fund --prefer-offline
              --fetch-retries=1 --fetch-timeout=20000 --loglevel=error
      WORKING_DIRECTORY "${report_npm_dir}" TIMEOUT 120
      RESULT_VARIABLE report_npm_result OUTPUT_QUIET ERROR_VARIABLE report_npm_error)
  endif()
  if(report_npm_result STREQUAL 0)
    file(WRITE "${report_npm_dir}/installed-lock.json" "${report_wanted_lock}")
  else()
    set(report_library "")
    message(WARNING "Reports will have no chart: npm could not get the chart library "
      "(${report_npm_result}${report_npm_error}). Everything else works; configure again to retry.")
  endif()
endif()

set(report_page_source "${CMAKE_CURRENT_BINARY_DIR}/report_page.cpp")
file(GLOB report_page_files CONFIGURE_DEPENDS "${report_page_dir}/*.js" "${report_page_dir}/page.*"
  "${report_page_dir}/library.sha256" "${report_library}/dist/uPlot.*.min.*" "${PROJECT_SOURCE_DIR}/tools/cmake/content_policy.cmake"
  "${PROJECT_SOURCE_DIR}/tools/cmake/known_files.cmake")
set(report_page_script "${PROJECT_SOURCE_DIR}/tools/cmake/report_page.cmake")
add_custom_command(OUTPUT "${report_page_source}"
  COMMAND "${CMAKE_COMMAND}" "-DOUT=${report_page_source}" "-DPAGE_DIR=${report_page_dir}"
          "-DLIBRARY_DIR=${report_library}" -P "${report_page_script}"
  DEPENDS ${report_page_files} "${report_page_script}"
  COMMENT "Embedding the report's page" VERBATIM)
# A clang limit: portable programs have no literal of more than 65,536 characters.
set_source_files_properties("${report_page_source}" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
