# Finds LibTorch and makes the target driftgate::libtorch.
#
# find_package(Torch) is not used: a CUDA wheel's TorchConfig insists on a CUDA toolkit, and one way for wheels, LibTorch
# archives and distribution packages is one way to test. Sets
#   DriftgateTorch_VERSION   as torch prints it, e.g. 2.13.0+cpu
#   DriftgateTorch_CUDA      whether CUDA kernels are linked
#
# The first of these that holds headers and libraries is used; what was asked for by name must hold them.
#   -DDRIFTGATE_TORCH=DIR or the environment's DRIFTGATE_TORCH: a torch package or an unpacked LibTorch
#   the project's .venv · the torch of the active python3 · Homebrew's pytorch · /usr/local · /usr
set(_torch_remedy "Install one with tools/setup.sh, or pass -DDRIFTGATE_TORCH=<torch package or LibTorch directory>.")
set(_torch_oldest 2.6)

function(_driftgate_look_in root)
  find_path(include ATen/ATen.h PATHS "${root}/include" NO_DEFAULT_PATH NO_CACHE)
  foreach(library IN ITEMS c10 torch_cpu torch torch_cuda c10_cuda)
    find_library(${library} ${library} PATHS "${root}/lib" "${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}"
                 NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
  endforeach()
  if(include AND c10 AND torch_cpu AND torch)
    set(DriftgateTorch_ROOT "${root}" PARENT_SCOPE)
    set(DriftgateTorch_INCLUDE "${include}" PARENT_SCOPE)
    set(DriftgateTorch_CPU_LIBRARIES "${torch_cpu};${c10}" PARENT_SCOPE)
    set(DriftgateTorch_LIBRARIES "${torch};${torch_cpu};${c10}" PARENT_SCOPE)
    if(torch_cuda AND c10_cuda)
      set(DriftgateTorch_CUDA_LIBRARIES "${torch_cuda};${c10_cuda}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(_driftgate_read_version)
  foreach(source IN ITEMS version.py build-version include/torch/headeronly/version.h include/torch/version.h
                          include/torch/csrc/api/include/torch/version.h)
    if(NOT EXISTS "${DriftgateTorch_ROOT}/${source}")
      continue()
    endif()
    file(READ "${DriftgateTorch_ROOT}/${source}" text)
    if(text MATCHES "VERSION_MAJOR ([0-9]+).*VERSION_MINOR ([0-9]+).*VERSION_PATCH ([0-9]+)")
      set(DriftgateTorch_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}" PARENT_SCOPE)
      return()
    elseif(text MATCHES "(__version__ = '|^)([0-9]+\\.[0-9]+[^' \n]*)")
      set(DriftgateTorch_VERSION "${CMAKE_MATCH_2}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(NOT DRIFTGATE_TORCH AND DEFINED ENV{DRIFTGATE_TORCH})
  set(DRIFTGATE_TORCH "$ENV{DRIFTGATE_TORCH}")
endif()
if(DRIFTGATE_TORCH)
  file(REAL_PATH "${DRIFTGATE_TORCH}" _torch_asked BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" EXPAND_TILDE)
  _driftgate_look_in("${_torch_asked}")
  if(NOT DriftgateTorch_ROOT)
    message(FATAL_ERROR "DRIFTGATE_TORCH=${DRIFTGATE_TORCH}: no include/ATen/ATen.h with lib/libtorch_cpu there.\n"
                        "It must be the torch package (…/site-packages/torch) or an unpacked LibTorch. ${_torch_remedy}")
  endif()
else()
  file(GLOB _torch_candidates "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  execute_process(COMMAND python3 -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
                  OUTPUT_VARIABLE _torch_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _torch_candidates ${_torch_python} /opt/homebrew/opt/pytorch /usr/local/opt/pytorch /usr/local /usr)
  foreach(candidate IN LISTS _torch_candidates)
    if(NOT DriftgateTorch_ROOT)
      _driftgate_look_in("${candidate}")
    endif()
  endforeach()
  if(NOT DriftgateTorch_ROOT)
    list(JOIN _torch_candidates "\n  " _torch_candidates)
    message(FATAL_ERROR "No LibTorch found in\n  ${_torch_candidates}\n${_torch_remedy}")
  endif()
endif()

_driftgate_read_version()
if(NOT DriftgateTorch_VERSION)
  message(FATAL_ERROR "${DriftgateTorch_ROOT}: neither version.py, build-version nor torch/version.h tells torch's version. ${_torch_remedy}")
elseif(DriftgateTorch_VERSION VERSION_LESS _torch_oldest)
  message(FATAL_ERROR "${DriftgateTorch_ROOT}: torch ${DriftgateTorch_VERSION} is older than ${_torch_oldest}, the oldest supported. ${_torch_remedy}")
endif()
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  # Some 2.6 wheels were built with the string type of before C++11: they would fail at link time, with pages of symbols.
  list(GET DriftgateTorch_CPU_LIBRARIES 1 _torch_c10)
  file(STRINGS "${_torch_c10}" _torch_symbols REGEX "_ZN3c105Error.*__cxx11" LIMIT_COUNT 1)
  if(NOT _torch_symbols)
    message(FATAL_ERROR "${DriftgateTorch_ROOT}: torch ${DriftgateTorch_VERSION} was built with the old C++ string ABI. Use 2.7 or later, or the cu126 build of 2.6.")
  endif()
endif()

set(DRIFTGATE_TORCH "${DriftgateTorch_ROOT}" CACHE PATH "The torch package or LibTorch that is linked" FORCE)
option(DRIFTGATE_TORCH_CPU_ONLY "Link only the CPU half of a CUDA build, whose CUDA packages may be missing" OFF)
set(DriftgateTorch_CUDA OFF)
add_library(driftgate::libtorch INTERFACE IMPORTED)
if(DRIFTGATE_TORCH_CPU_ONLY)
  set(DriftgateTorch_LIBRARIES ${DriftgateTorch_CPU_LIBRARIES})
  target_link_options(driftgate::libtorch INTERFACE LINKER:--unresolved-symbols=ignore-in-shared-libs)
elseif(DriftgateTorch_CUDA_LIBRARIES)
  set(DriftgateTorch_CUDA ON)
  list(APPEND DriftgateTorch_LIBRARIES ${DriftgateTorch_CUDA_LIBRARIES})
  target_link_options(driftgate::libtorch INTERFACE LINKER:--allow-shlib-undefined)
endif()
if(NOT APPLE)
  # Kernels register themselves when their library is loaded, although no symbol of it is used.
  target_link_options(driftgate::libtorch INTERFACE LINKER:--no-as-needed)
endif()
target_link_libraries(driftgate::libtorch INTERFACE ${DriftgateTorch_LIBRARIES})
target_include_directories(driftgate::libtorch SYSTEM INTERFACE
  "${DriftgateTorch_INCLUDE}" "${DriftgateTorch_INCLUDE}/torch/csrc/api/include")
message(STATUS "torch ${DriftgateTorch_VERSION} in ${DriftgateTorch_ROOT} (CUDA: ${DriftgateTorch_CUDA})")
