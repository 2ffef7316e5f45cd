# Toolchain: from Linux to macOS on Apple silicon with the zig of the `ziglang` wheel, without an Apple SDK (libSystem only).
# ZIG names the zig executable: -DZIG=… or the environment's.
#
# What it builds cannot run here. It shows that the Mac build compiles, and that every symbol it needs is in torch's Mac libraries.
if(NOT ZIG)
  set(ZIG "$ENV{ZIG}")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)

set(CMAKE_CXX_COMPILER "${ZIG}" c++ -target aarch64-macos.14.0)
set(CMAKE_CXX_FLAGS_INIT "-w -fno-sanitize=undefined")    # libc++'s nullability warnings fill pages; zig sanitizes unoptimized code
set(CMAKE_CXX_ARCHIVE_CREATE "${ZIG} ar qcS <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "${ZIG} ar qS <TARGET> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "${ZIG} ranlib <TARGET>")
set(CMAKE_INSTALL_NAME_TOOL true)                         # CMake insists on one; nothing is installed
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)               # this host's libraries are of another system
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)                    # zig c++ makes none
