import Testing

@testable import BertQACore

/// An entity that another program finds, in a fixture's expected.json: a range in characters, a label and a score.
struct FoundEntity: Decodable, Equatable {
  var start: Int
  var end: Int
  var label: String
  var score: Float

  init(_ entity: Entity) {
    (start, end) = (entity.codePoints.start, entity.codePoints.end)
    (label, score) = (entity.label, entity.score)
  }

  init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    start = try values.decode(Int.self)
    end = try values.decode(Int.self)
    label = try values.decode(String.self)
    score = try values.decode(Float.self)
  }
}

/// What rules find in a text, as "LABEL text".
func foundPII(_ text: String, _ kinds: PIIKinds = .all, regions: [String] = []) throws -> [String] {
  var options = PIIOptions()
  options.kinds = kinds
  options.regions = regions
  return try EntityList(piiIn: text, options: options).entities.map {
    #expect([0.5, 0.8, 1].contains($0.score) && $0.reason?.rule == $0.label.lowercased())
    return "\($0.label) \($0.text(in: text))"
  }
}
