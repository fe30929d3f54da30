/// The package version; `BERTQA_VERSION_*` in include/bertqa.h says the same.
public let libraryVersion: StaticString = "0.1.0"
