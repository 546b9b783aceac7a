#!/bin/sh
# Installs what cosweep needs on Debian or Ubuntu; does nothing where all of it is there.
#   scripts/install.sh          to build, test and plot
#   scripts/install.sh slurm    the same, and a Slurm to test jobs with
#   scripts/install.sh fuzz     the same, and what scripts/fuzz.sh builds with: clang, its sanitizers, a symbolizer
#   scripts/install.sh check    the same, and what scripts/check.sh looks with: clang, cppcheck, shellcheck, valgrind, gcovr
#   scripts/install.sh report   the same, and what scripts/report.py draws its page with: node, npm, Chromium, echarts
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
packages="gcc libc6-dev make cmake pkg-config git openmpi-bin libopenmpi-dev libhdf5-dev hdf5-tools libyaml-dev
libcmocka-dev python3-h5py python3-matplotlib python3-munkres python3-unicodedata2"
# python3-munkres and python3-unicodedata2 spare 600 MB of scipy under matplotlib.
case ${1:-} in
'') ;;
slurm) packages="$packages slurmctld slurmd slurm-client munge" ;;
fuzz) packages="$packages clang libclang-rt-dev libomp-dev llvm" ;;
check)
    packages="$packages clang libclang-rt-dev libomp-dev llvm clang-format clang-tidy cppcheck shellcheck valgrind gcovr"
    ;;
report) # a node from elsewhere than Debian brings its own npm
    command -v node >/dev/null || packages="$packages nodejs"
    command -v npm >/dev/null || packages="$packages npm"
    command -v chromium >/dev/null || packages="$packages chromium"
    ;;
*)
    echo "install.sh: $1: unknown; give nothing, slurm, fuzz, check or report" >&2
    exit 2
    ;;
esac

install_packages() {
    missing=
    for package in $packages; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    if ! command -v apt-get >/dev/null; then
        echo "install.sh: no apt-get here; install the equivalents of:$missing" >&2
        exit 5
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "install.sh: needs root for apt-get; as root: apt-get install$missing" >&2
            exit 5
        fi
        as_root=sudo
    fi
    echo "installing:$missing" >&2
    $as_root apt-get -o DPkg::Lock::Timeout=300 update -q >&2
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends \
        $missing >&2
}

# What package-lock.json pins, unless it is there already.
install_modules() {
    cmp -s "$root/scripts/report/package-lock.json" "$root/scripts/report/node_modules/.installed" && return 0
    echo "installing: echarts and playwright-core in scripts/report/node_modules" >&2
    (cd "$root/scripts/report" && npm ci --no-audit --no-fund >&2)
    cp "$root/scripts/report/package-lock.json" "$root/scripts/report/node_modules/.installed"
}

install_packages
[ "${1:-}" != report ] || install_modules
