#!/bin/sh
# What cross-arm64.sh runs in its root.
set -eu
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset MAKEFLAGS MAKELEVEL
cd "$(dirname "$0")/.."
swift=/opt/arm64/usr/libexec/swift/lib
sdks=/opt/arm64/sdks

# Of arm64: C libraries, and of Swift's package the part for programs, as the whole cannot be installed beside amd64's.
if [ ! -e $sdks ]; then
  dpkg --add-architecture arm64
  apt-get update -q
  apt-get install -qy --no-install-recommends libc6-dev:arm64 libstdc++-14-dev:arm64 libsqlite3-dev:arm64 \
    gcc-aarch64-linux-gnu g++-aarch64-linux-gnu
  version=$(dpkg-query -f '${Version}' -W swiftlang)
  mkdir -p /opt/arm64
  (cd /opt/arm64 && apt-get download -q "swiftlang:arm64=$version")
  dpkg-deb --fsys-tarfile /opt/arm64/swiftlang_*.deb |
    tar -xC /opt/arm64 ./usr/libexec/swift/lib/swift ./usr/libexec/swift/lib/swift_static ./usr/libexec/swift/lib/clang
  rm /opt/arm64/swiftlang_*.deb
  mkdir -p $sdks.new/arm64.artifactbundle/arm64
  cat > $sdks.new/arm64.artifactbundle/info.json << END
{"schemaVersion": "1.0",
 "artifacts": {"arm64": {"type": "swiftSDK", "version": "$version", "variants": [{"path": "arm64"}]}}}
END
  cat > $sdks.new/arm64.artifactbundle/arm64/swift-sdk.json << END
{"schemaVersion": "4.0",
 "targetTriples": {"aarch64-unknown-linux-gnu": {
   "sdkRootPath": "/", "swiftResourcesPath": "$swift/swift", "swiftStaticResourcesPath": "$swift/swift_static"}}}
END
  mv $sdks.new $sdks
fi

export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig
make sqlite SWIFT_OPTIONS="--swift-sdks-path $sdks --swift-sdk arm64" CC=aarch64-linux-gnu-gcc
