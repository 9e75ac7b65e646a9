# SPDX-License-Identifier: MIT
# Sourced by ./demo and ./run-tests: `need tests` or `need program` checks that what the build needs is here. As root on
# Debian or Ubuntu it installs what is missing through apt and says so; otherwise it names the packages and stops.

export PATH="${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
jobs=$(nproc 2>/dev/null || echo 2)

has() { command -v "$1" >/dev/null 2>&1; }
includes() { has "$1" && echo "#include <$2>" | "$1" -x "$3" -E - >/dev/null 2>&1; } # compiler, header, language

imports() { python3 -c "import $1" >/dev/null 2>&1 || /usr/bin/python3 -c "import $1" >/dev/null 2>&1; }

missing_packages() { # $1 = tests or program
    has cc && has make && includes cc stdio.h c || echo build-essential
    has cmake || echo cmake
    includes cc zlib.h c || echo zlib1g-dev
    includes cc lzma.h c || echo liblzma-dev
    includes cc zip.h c || echo libzip-dev
    [ "$1" = tests ] || return 0
    has c++ || echo build-essential
    has pkg-config || echo pkg-config
    has mpirun || echo openmpi-bin # a rank each, more of them than cores
    has mpicc || echo libopenmpi-dev
    includes c++ gtest/gtest.h c++ || echo libgtest-dev
    pkg-config --exists openblas 2>/dev/null || echo libopenblas-dev # of the training programs in examples/
    local module
    for module in numpy scipy pytest; do # of any Python that the tests may run with: see python/CMakeLists.txt
        imports "$module" || echo python3 "python3-$module"
    done
}

need() {
    local packages
    packages=$(missing_packages "$1" | sort -u | tr '\n' ' ')
    if [ -n "$packages" ]; then
        if [ "$(id -u)" = 0 ] && has apt-get; then
            echo "Installing what the build needs through apt: $packages"
            export DEBIAN_FRONTEND=noninteractive
            apt-get update -qq </dev/null || echo "apt-get update failed; trying with the lists at hand" >&2
            apt-get install -y -qq --no-install-recommends $packages </dev/null >/dev/null || {
                echo "apt could not install: $packages" >&2
                exit 1
            }
        else
            echo "Missing on this machine; install and run this again:" >&2
            echo "    sudo apt-get install $packages" >&2
            exit 1
        fi
    fi
    local version
    version=$(cmake --version | sed -n '1s/cmake version //p')
    if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
        echo "CMake is $version, but the presets need 3.25 or newer; pip install cmake gives one" >&2
        exit 1
    fi
}
