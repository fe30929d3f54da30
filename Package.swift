// swift-tools-version: 6.0
import PackageDescription

// SwiftPM refuses packages with unsafe flags as dependencies, so BertQACore has them only if this variable is set. The
// Makefile sets it.
let usesKernelFlags = Context.environment["BERTQA_KERNEL_FLAGS"] == "1"

// -O3 also in debug builds: kernels compiled without it are too slow to test with. clang protects the stack of C
// code only with a flag; swiftc always protects that of Swift code. Functions of their own sections are left out of the
// library if nothing calls them: templates define some for each instruction set.
let kernelSettings: [CSetting] =
  usesKernelFlags
  ? [
    .unsafeFlags([
      "-O3", "-Wall", "-Wextra", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
      "-ffunction-sections",
    ])
  ] : []

// Optimised in debug builds too, with their assertions: its tests take half of the time.
let coreSettings: [SwiftSetting] =
  usesKernelFlags ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

// All symbols are bound at start, after which the tables of addresses are read-only. Tests/python/packages/test_hardening.py
// checks what came of it.
let hardened = ["relro", "now", "noexecstack"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] }

// Symbols of libc and of the Swift runtime that Sources/CBertQA/system/swift_runtime.c defines for the library.
let replaced = [
  "environ", "_swift_backtrace_isThunkFunction", "_swift_backtraceSettings", "_swift_stdlib_getScalarName",
].flatMap { ["-Xlinker", "--wrap=\($0)"] }

// The dynamic library carries its own Swift runtime, so that a host needs nothing but libc, and
// exports only the names that include/bertqa.h declares. It is never unloaded (nodelete): its
// thread pool outlives any dlclose().
let selfContained: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-stdlib",
      "-Xlinker", "-soname=libbertqa.so.1",
      "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/libbertqa/exports.map",
      "-Xlinker", "-z", "-Xlinker", "nodelete",
    ] + hardened + replaced)
]

let package = Package(
  name: "libbertqa",
  products: [
    .library(name: "BertQACore", targets: ["BertQACore"]),
    .library(name: "bertqa", type: .dynamic, targets: ["libbertqa"]),
    // `make install` installs this as `bertqa`; SwiftPM cannot give two products one name.
    .executable(name: "bertqa-cli", targets: ["bertqa-cli"]),
  ],
  targets: [
    .target(name: "CBertQA", cSettings: kernelSettings),
    .target(name: "BertQACore", dependencies: ["CBertQA"], swiftSettings: coreSettings),
    .target(name: "CBertQAHeader", publicHeadersPath: ".", cSettings: kernelSettings),
    .target(
      name: "libbertqa", dependencies: ["BertQACore", "CBertQA", "CBertQAHeader"], exclude: ["exports.map"],
      linkerSettings: selfContained),
    .systemLibrary(name: "CSystem"),
    .systemLibrary(name: "CCodecs"),
    .executableTarget(
      name: "bertqa-cli", dependencies: ["BertQACore", "CCodecs", "CSystem"], path: "Sources/bertqa",
      linkerSettings: [.unsafeFlags(hardened)]),
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    .testTarget(
      name: "BertQACoreTests", dependencies: ["BertQACore", "CBertQA", "CTestSupport"],
      exclude: ["Fixtures"]),
  ],
  swiftLanguageModes: [.v6]
)
