# Toolchain: from Linux on x86 to Linux on arm64, with Debian's g++-aarch64-linux-gnu. What it builds runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# libc's and the BLAS's own symbols are found when it runs.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--unresolved-symbols=ignore-in-shared-libs")
