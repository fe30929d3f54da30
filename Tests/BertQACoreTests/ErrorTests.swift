import Testing

@testable import BertQACore

@Test func errorDescribesItself() {
  #expect(BertQAError(.io, "config.json: not found").description == "config.json: not found")
}
