#!/bin/sh
# The part of cross-arm64.sh that runs inside its root.
set -eu
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset MAKEFLAGS MAKELEVEL
cd "$(dirname "$0")/.."
swift=/opt/arm64/usr/libexec/swift/lib
sdks=/opt/arm64/sdks
cc=/usr/local/bin/aarch64-linux-gnu-cc

# Install the C libraries of arm64, and the part of Swift's package for programs: the whole package cannot be
# installed next to amd64's. gcc-aarch64-linux-gnu must be absent: with its headers Swift does not find those
# of libc6-dev.
if [ ! -e $sdks ]; then
  dpkg --add-architecture arm64
  apt-get update -q
  apt-get install -qy --no-install-recommends binutils-aarch64-linux-gnu libc6-dev:arm64 libstdc++-14-dev:arm64 \
    libsqlite3-dev:arm64 pkg-config
  version=$(dpkg-query -f '${Version}' -W swiftlang)
  mkdir -p /opt/arm64
  (cd /opt/arm64 && apt-get download -q "swiftlang:arm64=$version")
  dpkg-deb --fsys-tarfile /opt/arm64/swiftlang_*.deb |
    tar -xC /opt/arm64 ./usr/libexec/swift/lib/swift ./usr/libexec/swift/lib/swift_static ./usr/libexec/swift/lib/clang
  rm /opt/arm64/swiftlang_*.deb

  printf '#!/bin/sh\nexec /usr/libexec/swift/bin/clang --target=aarch64-linux-gnu "$@"\n' > $cc
  chmod +x $cc
  bundle=$sdks.new/arm64.artifactbundle
  mkdir -p $bundle/arm64
  cat > $bundle/info.json << END
{"schemaVersion": "1.0",
 "artifacts": {"arm64": {"type": "swiftSDK", "version": "$version", "variants": [{"path": "arm64"}]}}}
END
  cat > $bundle/arm64/swift-sdk.json << END
{"schemaVersion": "4.0",
 "targetTriples": {"aarch64-unknown-linux-gnu": {
   "sdkRootPath": "/", "toolsetPaths": ["toolset.json"],
   "swiftResourcesPath": "$swift/swift_static", "swiftStaticResourcesPath": "$swift/swift_static"}}}
END
  # Options that SwiftPM sets only for its own machine, and a linker that gives Swift's .rodata, which is
  # writable on arm64, its own segment. GNU's linker puts it into the code segment, which becomes writable,
  # too.
  cat > $bundle/arm64/toolset.json << END
{"schemaVersion": "1.0", "cCompiler": {"extraCLIOptions": ["-fPIC"]}, "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}
END
  mv $sdks.new $sdks
fi

compat=$PWD/.build/cross-arm64-compat.o
mkdir -p .build
$cc -std=c17 -O2 -fPIC -Wall -Wextra -Werror -c Scripts/cross-arm64-compat.c -o "$compat"
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig
make sqlite SWIFT_OPTIONS="--swift-sdks-path $sdks --swift-sdk arm64 -Xlinker $compat" CC=$cc
