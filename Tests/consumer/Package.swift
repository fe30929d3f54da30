// swift-tools-version: 6.0
import PackageDescription

// A program that depends on a released version; run.sh fills in the path of the repository.
let package = Package(
  name: "consumer",
  dependencies: [
    .package(url: Context.environment["BERTQA_REPOSITORY"] ?? "..", from: "0.1.0")
  ],
  targets: [
    .executableTarget(
      name: "consumer", dependencies: [.product(name: "BertQACore", package: "libbertqa")])
  ],
  swiftLanguageModes: [.v6]
)
