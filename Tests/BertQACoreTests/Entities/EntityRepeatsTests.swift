import Testing

@testable import BertQACore

@Suite struct EntityRepeatsTests {
  /// Returns the texts of the list of some entities, found everywhere in a text.
  private func everywhere(_ text: String, _ names: [String]) throws -> [String] {
    try withBytes(of: text) { bytes throws(BertQAError) in
      var list = EntityList()
      var searched = 0
      for name in names {
        let name = Array(name.utf8)
        let start = (searched..<bytes.count).first { bytes[$0...].starts(with: name) } ?? 0
        // Names that begin alike stand at one place.
        searched = start
        let range = TextRange(start: start, end: start + name.count)
        list.entities.append(Entity(label: "PER", bytes: range, codePoints: range, utf16: range, score: 0.5))
      }
      return try list.everywhere(in: bytes)
    }.entities.map { $0.text(in: text) }
  }

  @Test func namesAreFoundAgain() throws {
    #expect(
      try everywhere("Ann Smith saw ANN SMITH's car; ann  smith, Smith.", ["Ann Smith"])
        == ["Ann Smith", "ANN SMITH", "ann  smith"])
    #expect(try everywhere("Müller, MÜLLER and Müllers", ["Müller"]) == ["Müller", "MÜLLER"])
    #expect(try everywhere("王小明和王小明", ["王小明"]) == ["王小明", "王小明"])
    #expect(try everywhere("Ann\nSmith, Ann\n\nSmith", ["Ann\nSmith"]) == ["Ann\nSmith"])
    #expect(try everywhere("a@b.de and A@B.DE", ["a@b.de"]) == ["a@b.de", "A@B.DE"])
    // The longest of several; none within an entity.
    #expect(
      try everywhere("Ann; Ann Smith; Ann Smith Jones; Ann Smith, Ann", ["Ann", "Ann Smith"])
        == ["Ann", "Ann Smith", "Ann Smith", "Ann Smith", "Ann"])
    #expect(try everywhere("Al, Al", ["Al"]) == ["Al"])
    #expect(try everywhere("nothing", []) == [])
  }

  @Test func timeIsLinear() throws {
    let text = String(repeating: "a b ", count: 50_000) + String(repeating: "x", count: 200_000) + " a b c"
    #expect(try everywhere(text, ["a b c"]) == ["a b c"])
    let many = (0..<5000).map { "Ann N\($0)" }
    #expect(
      try everywhere(many.joined(separator: ", ") + String(repeating: ", Ann", count: 50_000), many).count
        == 5000)
  }
}
