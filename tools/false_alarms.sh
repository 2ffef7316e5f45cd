#!/usr/bin/env bash
# Runs the suite on every honest device at hand and prints what each fails: nothing may fail, and at most 1 % may be untrusted.
#
#   tools/false_alarms.sh [--tier smoke|standard|full] [--torch VERSION]... [--arm64] [--jobs N] [--only NAME]...
#
# Honest devices: this CPU with each instruction set that LibTorch can be held to; the sound profiles of the simulated device; a live
# accelerator; for each --torch VERSION, this CPU under that release (Linux; about 1.3 GB each, kept in build/torch); and with --arm64 the
# smoke tier on an Arm processor that qemu emulates (Debian; kept in build/arm64). NAME is one of those that are printed. Evidence stays in
# build/false_alarms. Exit code 1 when a device fails or is untrusted too often.
set -euo pipefail
tier=standard jobs=$(getconf _NPROCESSORS_ONLN) releases=() only=() arm64=
while [ $# -gt 0 ]; do
  case $1 in
    --arm64) arm64=yes; shift; continue ;;
    --tier) tier=${2:?--tier needs a name} ;;
    --torch) releases+=("${2:?--torch needs a version}") ;;
    --jobs) jobs=${2:?--jobs needs a number} ;;
    --only) only+=("${2:?--only needs a name}") ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done

. "$(dirname "$0")/setup.sh"
export PYTORCH_ENABLE_MPS_FALLBACK=0 OMP_NUM_THREADS=1
out=build/false_alarms
mkdir -p "$out"
alarms=0

# try NAME DEVICE PROGRAM [ARGUMENT…]: run, judge, print one line.
try() {
  local name=$1 device=$2 program=$3
  shift 3
  [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $name "* ]] || return 0
  "$program" run --device "$device" --tier "$tier" --jobs "$jobs" --fresh --out "$out/$name" "$@" >&2
  "$program" judge "$out/$name" --json > "$out/$name.json" || [ $? = 1 ]
  "$python" - "$name" "$out/$name.json" <<'PYTHON' || alarms=1
import collections, json, sys
name, file = sys.argv[1:]
judged = json.load(open(file))
counts = judged["counts"]
print(f"{name:<22}", *(f"{counts[key]:>9}" for key in ("planned", "executed", "pass", "fail", "skip", "untrusted", "error")))
for reason, number in collections.Counter(d["reason"] for d in judged["deviations"] if d["state"] == "untrusted").most_common(3):
    print(f"    untrusted: {reason} {number}")
for deviation in [d for d in judged["deviations"] if d["state"] in ("fail", "error")][:10]:
    print("   ", deviation["state"], deviation["id"], deviation["reason"])
sys.stdout.flush()
sound = counts["executed"] > 0 and counts["fail"] == counts["error"] == 0 and counts["untrusted"] <= 0.01 * counts["executed"]
sys.exit(0 if sound else 1)
PYTHON
}

unbuilt() { echo "$1: not built, nothing was judged"; exit 1; }

# The program for this CPU under another release: the CPU half of its wheel, with the two CUDA packages that half itself loads.
build_for() {
  local version=$1 venv=build/torch/$1 packages
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  [ -d "$packages/torch" ] || "$venv/bin/python" -m pip install -q --no-deps "torch==$version" nvidia-cuda-cupti nvidia-cuda-runtime >&2
  cmake -S . -B "build/torch/build-$version" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDRIFTGATE_TESTS=OFF -DDRIFTGATE_TORCH_CPU_ONLY=ON \
    -DDRIFTGATE_TORCH="$packages/torch" >&2
  cmake --build "build/torch/build-$version" --target driftgate >&2 || return 1
  LD_LIBRARY_PATH=$(find "$packages/nvidia" -type d -name lib | paste -sd: -)
  export LD_LIBRARY_PATH
}

# The program for arm64, with Arm's own arithmetic in torch (Arm Compute Library, OpenBLAS, NEON). 2.9.1 is the last release whose wheel is CPU only.
build_for_arm64() {
  local cache=$root/build/arm64 version=2.9.1 apt
  install_debian_packages g++-aarch64-linux-gnu qemu-user
  mkdir -p "$cache"/{wheel,debs,sysroot/lib} "$cache"/apt/{lists,archives}/partial
  if [ ! -f "$cache/torch/torch/version.py" ]; then
    ls "$cache"/wheel/torch-$version-*.whl >/dev/null 2>&1 ||
      "$python" -m pip download -q --no-deps --platform manylinux_2_28_aarch64 --python-version 3.11 --only-binary=:all: "torch==$version" -d "$cache/wheel" >&2
    "$python" - "$cache" <<'PYTHON'
import glob, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(f"{sys.argv[1]}/wheel/torch-*.whl")[0])
wheel.extractall(f"{sys.argv[1]}/torch", [n for n in wheel.namelist() if n.startswith(("torch/include/", "torch/lib/", "torch.libs/"))] + ["torch/version.py"])
PYTHON
  fi
  if [ ! -e "$cache/sysroot/lib/libjpeg.so" ]; then
    apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$cache/apt" -o Dir::Cache="$cache/apt" -o Dir::State::status=/dev/null)
    (cd "$cache/debs" && "${apt[@]}" update && "${apt[@]}" download zlib1g libjpeg62-turbo) >&2
    for package in "$cache"/debs/*.deb; do dpkg-deb -x "$package" "$cache/sysroot"; done
    ln -sf ../usr/lib/aarch64-linux-gnu/libjpeg.so.62 "$cache/sysroot/lib/libjpeg.so"
  fi
  cmake -S . -B "$cache/build" -G Ninja --toolchain cmake/linux_arm64_gnu.cmake -DCMAKE_BUILD_TYPE=Unoptimized -DDRIFTGATE_TESTS=OFF \
    -DDRIFTGATE_TORCH="$cache/torch/torch" -DDRIFTGATE_DEPS="$cache/sysroot" >&2
  cmake --build "$cache/build" --target driftgate >&2 || return 1
  cat > "$cache/driftgate" <<WRAPPER
#!/bin/sh
exec qemu-aarch64 -0 "\$0" -cpu max -L /usr/aarch64-linux-gnu \\
  -E LD_LIBRARY_PATH="$cache/sysroot/lib/aarch64-linux-gnu:$cache/sysroot/usr/lib/aarch64-linux-gnu" "$cache/build/bin/driftgate" "\$@"
WRAPPER
  chmod +x "$cache/driftgate"
}

printf '%-22s %9s %9s %9s %9s %9s %9s %9s\n' device planned executed pass fail skip untrusted error
capabilities=(default)
if [ -r /proc/cpuinfo ]; then
  for capability in avx2 avx512f; do ! grep -qw "$capability" /proc/cpuinfo || capabilities+=("${capability%f}"); done
fi
for capability in "${capabilities[@]}"; do ATEN_CPU_CAPABILITY=$capability try "cpu_$capability" cpu "$driftgate"; done
for profile in clean metal_like metal_spec; do try "sim_$profile" sim "${driftgate}_sim" --profile "$profile"; done
try sim_ln_onepass sim "${driftgate}_sim" --profile metal_like --ln-onepass
for tile in f2 f4; do try "sim_winograd_$tile" sim "${driftgate}_sim" --profile metal_like --winograd "$tile"; done
for device in mps cuda; do ! "$driftgate" doctor --device "$device" >/dev/null 2>&1 || try "$device" "$device" "$driftgate"; done
for version in ${releases[@]+"${releases[@]}"}; do
  (build_for "$version" || unbuilt "cpu_torch_$version"; try "cpu_torch_$version" cpu "build/torch/build-$version/bin/driftgate"; exit "$alarms") || alarms=1
done
if [ -n "$arm64" ]; then
  (build_for_arm64 || unbuilt cpu_arm64_qemu; tier=smoke try cpu_arm64_qemu cpu "$root/build/arm64/driftgate"; exit "$alarms") || alarms=1
fi
exit "$alarms"
