# cmake -DOUT=file.cpp -DHARDWARE="a.json;b.json" ... -P embed_files.cmake
# Writes a source file with the given files as string literals.
function(embed out function files)
  set(text "std::span<const EmbeddedFile> ${function}() {\n  static constexpr EmbeddedFile files[] = {\n")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WLE)
    file(READ "${file}" content)
    string(APPEND text "      {\"${name}\", R\"~embedded~(${content})~embedded~\"},\n")
  endforeach()
  string(APPEND text "  };\n  return files;\n}\n")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

embed(hardware embedded_hardware "${HARDWARE}")
embed(models embedded_models "${MODELS}")
embed(formats embedded_formats "${FORMATS}")
embed(schemes embedded_schemes "${SCHEMES}")
embed(new embedded_new "${NEW}")
embed(schemas embedded_schemas "${SCHEMAS}")
embed(accuracy embedded_accuracy "${ACCURACY}")
# The standard guarantees literals of 65,536 characters; GCC and Clang have no limit.
set(long_literals "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n")
file(WRITE "${OUT}" "#include \"base/input/embedded.hpp\"\n\n${long_literals}namespace equarx::input {\n\n${hardware}\n${models}\n${formats}\n${schemes}\n${new}\n${schemas}\n${accuracy}\n}  // namespace equarx::input\n")
