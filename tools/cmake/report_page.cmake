# cmake -DOUT=file.cpp -DPAGE_DIR=tools/report -DLIBRARY_DIR=.../uplot -P report_page.cmake
# Writes a source file with the report's page, apart from title and data. LIBRARY_DIR is the chart
# library's package, or empty: then the page reports that it has no chart. Embedded library files
# must match PAGE_DIR/library.sha256.
include("${CMAKE_CURRENT_LIST_DIR}/content_policy.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/known_files.cmake")

set(parts data filter table export details pictures marks ticks held controls figure chart view page)
set(script "")
foreach(part IN LISTS parts)
  file(READ "${PAGE_DIR}/${part}.js" text)
  string(APPEND script "${text}\n")
endforeach()
file(READ "${PAGE_DIR}/page.html" page)
file(READ "${PAGE_DIR}/page.css" style)

set(chart_script "")
set(chart_licence "This page has no chart library.")
if(LIBRARY_DIR)
  get_filename_component(got "${LIBRARY_DIR}/../.." ABSOLUTE)
  check_known_files("${LIBRARY_DIR}" "${PAGE_DIR}/library.sha256"
    "remove ${got} and configure again; if that does not help, npm gives another library than was checked")
  file(READ "${LIBRARY_DIR}/dist/uPlot.iife.min.js" chart_script)
  file(READ "${LIBRARY_DIR}/dist/uPlot.min.css" chart_style)
  string(APPEND style "${chart_style}")
  file(READ "${LIBRARY_DIR}/package.json" package)
  string(JSON version GET "${package}" version)
  file(READ "${LIBRARY_DIR}/LICENSE" licence)
  string(REPLACE "&" "&amp;" licence "${licence}")
  string(REPLACE "<" "&lt;" licence "${licence}")
  set(chart_licence "The chart is drawn by uPlot ${version} (https://github.com/leeoniya/uPlot).\n\n${licence}")
endif()

csp_hash(script_hash "${script}")
csp_hash(chart_script_hash "${chart_script}")
csp_hash(style_hashes "${style}")
set(script_hashes "${script_hash} ${chart_script_hash}")

foreach(part script_hashes style_hashes style script chart_script chart_licence)
  set(place "{{${part}}}")
  string(REPLACE "${place}" "${${part}}" page "${page}")
endforeach()
file(WRITE "${OUT}" "#include \"experiments/report/report.hpp\"\n\nnamespace equarx::report {\n\nstd::string_view report_template() { return R\"~page~(${page})~page~\"; }\n\n}  // namespace equarx::report\n")
