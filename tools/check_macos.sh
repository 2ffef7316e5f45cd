#!/usr/bin/env bash
# Builds the whole program for macOS on Apple silicon, from Linux, against the macOS wheel of torch: it cannot run here, but it
# compiles, finds every symbol in torch's Mac libraries, and is a Mach-O executable for arm64. Downloads stay in build/macos.
. "$(dirname "$0")/setup.sh"
cache="$root/build/macos"
mkdir -p "$cache/wheel"

"$python" -c 'import ziglang' 2>/dev/null || "$python" -m pip install -q ziglang==0.16.0 >&2
ZIG=$("$python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
export ZIG ZIG_GLOBAL_CACHE_DIR="$cache/zig" ZIG_LOCAL_CACHE_DIR="$cache/zig"

if [ ! -f "$cache/torch-$torch_version/torch/version.py" ]; then
  ls "$cache"/wheel/torch-"$torch_version"-*.whl >/dev/null 2>&1 ||
    "$python" -m pip download -q --no-deps --platform macosx_14_0_arm64 --python-version 3.11 --only-binary=:all: \
      "torch==$torch_version" -d "$cache/wheel" >&2
  "$python" - "$cache" "$torch_version" <<'PYTHON'
import glob, sys, zipfile
cache, version = sys.argv[1:]
wheel = zipfile.ZipFile(glob.glob(f"{cache}/wheel/torch-{version}-*.whl")[0])
wanted = [name for name in wheel.namelist() if name.startswith(("torch/include/", "torch/lib/"))]
wheel.extractall(f"{cache}/torch-{version}", wanted + ["torch/version.py"])
PYTHON
fi

cmake -S . -B "$cache/build" -G Ninja --toolchain cmake/macos_arm64_zig.cmake -DCMAKE_BUILD_TYPE=Unoptimized \
  -DDRIFTGATE_TORCH="$cache/torch-$torch_version/torch" -DDRIFTGATE_TESTS=OFF >&2
cmake --build "$cache/build" >&2

for program in driftgate bench; do
  "$python" - "$cache/build/bin/$program" <<'PYTHON'
import struct, sys
magic, cpu, _, kind = struct.unpack("<4I", open(sys.argv[1], "rb").read(16))
assert (magic, cpu, kind) == (0xFEEDFACF, 0x0100000C, 2), "not a 64-bit Mach-O executable for arm64"
PYTHON
  echo "$program: Mach-O arm64 executable"
done
