#!/bin/sh
# Installs what cosweep needs on Debian or Ubuntu; does nothing where all of it is there.
#   scripts/install.sh          to build, test and plot
#   scripts/install.sh slurm    the same, and a Slurm to test jobs with
set -eu

packages="gcc libc6-dev make cmake pkg-config git openmpi-bin libopenmpi-dev libhdf5-dev hdf5-tools libyaml-dev
libcmocka-dev python3-h5py python3-matplotlib python3-munkres python3-unicodedata2"
# python3-munkres and python3-unicodedata2 spare 600 MB of scipy under matplotlib.
if [ "${1:-}" = slurm ]; then
    packages="$packages slurmctld slurmd slurm-client munge"
elif [ $# -gt 0 ]; then
    echo "install.sh: $1: unknown; give nothing or slurm" >&2
    exit 2
fi

missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install.sh: no apt-get here; install the equivalents of:$missing" >&2
    exit 5
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "install.sh: needs root for apt-get; as root: apt-get install$missing" >&2; exit 5; }
    as_root=sudo
fi
echo "installing:$missing" >&2
$as_root apt-get -o DPkg::Lock::Timeout=300 update -q >&2
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends \
    $missing >&2
