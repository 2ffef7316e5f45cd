# Header-only libraries, as the target driftgate::headers.
#
# Each is linked by name into one folder of the build. So nothing else of /usr/include or of Homebrew's folder comes along
# (a second torch, a cross compiler's wrong C library), and torch's own copy of fmt never takes the place of ours.
# -DDRIFTGATE_DEPS=DIR looks in DIR/include first: for machines without a package manager.
set(DRIFTGATE_DEPS "" CACHE PATH "Directory whose include/ holds CLI, fmt, nlohmann and xxhash.h")

add_library(driftgate_headers INTERFACE)
add_library(driftgate::headers ALIAS driftgate_headers)
target_include_directories(driftgate_headers SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/headers")
target_compile_definitions(driftgate_headers INTERFACE FMT_HEADER_ONLY XXH_INLINE_ALL)

# driftgate_header(fmt/format.h libfmt-dev fmt): a header, and the Debian and Homebrew packages that have it.
function(driftgate_header header debian homebrew)
  find_path(found "${header}" HINTS "${DRIFTGATE_DEPS}/include" "/opt/homebrew/opt/${homebrew}/include" "/usr/local/opt/${homebrew}/include"
            PATH_SUFFIXES x86_64-linux-gnu aarch64-linux-gnu NO_CACHE)
  if(NOT found)
    message(FATAL_ERROR "Header ${header} not found. apt-get install ${debian} (Debian), brew install ${homebrew} (macOS), "
                        "or pass -DDRIFTGATE_DEPS=<directory whose include/ holds it>.")
  endif()
  string(REGEX REPLACE "/.*" "" entry "${header}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/headers")
  file(CREATE_LINK "${found}/${entry}" "${PROJECT_BINARY_DIR}/headers/${entry}" SYMBOLIC)
endfunction()
