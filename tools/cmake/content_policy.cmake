# csp_hash(OUT TEXT): the source expression of a Content-Security-Policy for a script or style:
# 'sha256-...'.
function(csp_hash out text)
  string(SHA256 hex "${text}")
  string(APPEND hex "00")  # 33 bytes are 44 base64 digits; the last one becomes "="
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64 "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hex}" ${at} 3 three)
    math(EXPR high "0x${three} / 64")
    math(EXPR low "0x${three} % 64")
    string(SUBSTRING "${digits}" ${high} 1 first)
    string(SUBSTRING "${digits}" ${low} 1 second)
    string(APPEND base64 "${first}${second}")
  endforeach()
  string(REGEX REPLACE "A$" "=" base64 "${base64}")
  set(${out} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()
