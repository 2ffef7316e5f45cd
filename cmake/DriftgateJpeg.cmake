# libjpeg-turbo, as the target driftgate::jpeg. Its headers come through driftgate_header(); a Mac build made elsewhere, whose
# library is not here, links against the list of its symbols (cmake/libjpeg.tbd).
foreach(header IN ITEMS jpeglib.h jmorecfg.h jconfig.h)
  driftgate_header(${header} libjpeg-dev jpeg-turbo)
endforeach()
file(STRINGS "${PROJECT_BINARY_DIR}/headers/jconfig.h" turbo REGEX "define +LIBJPEG_TURBO_VERSION ")
if(NOT turbo)
  message(FATAL_ERROR "jpeglib.h is not libjpeg-turbo's. apt-get install libjpeg-dev (Debian), brew install jpeg-turbo (macOS).")
endif()

add_library(driftgate::jpeg INTERFACE IMPORTED)
if(CMAKE_CROSSCOMPILING AND APPLE)
  target_link_libraries(driftgate::jpeg INTERFACE "${PROJECT_SOURCE_DIR}/cmake/libjpeg.tbd")
else()
  find_library(jpeg NAMES jpeg HINTS "${DRIFTGATE_DEPS}/lib" /opt/homebrew/opt/jpeg-turbo/lib /usr/local/opt/jpeg-turbo/lib NO_CACHE)
  if(NOT jpeg)
    message(FATAL_ERROR "libjpeg not found. apt-get install libjpeg-dev (Debian), brew install jpeg-turbo (macOS), "
                        "or pass -DDRIFTGATE_DEPS=<directory whose lib/ holds it>.")
  endif()
  target_link_libraries(driftgate::jpeg INTERFACE "${jpeg}")
  string(REGEX REPLACE ".* " "" turbo "${turbo}")
  message(STATUS "libjpeg-turbo ${turbo}: ${jpeg}")
endif()
