extension PipelineTokenizer: Tokenizer {
  var template: Template { pipeline.postProcessor.template }

  var vocabularySize: Int { max(pipeline.model.vocabulary.count, Int(addedVocabulary.lastID) + 1) }

  var lowercases: Bool { pipeline.lowercases }

  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> {
    addedVocabulary.piece(id) ?? pipeline.model.vocabulary.piece(id)
  }

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? {
    if let id = addedVocabulary.id(of: piece) { return id }
    return piece.isEmpty ? nil : pipeline.model.vocabulary.id(of: piece)
  }

  func continuesWord(_ id: Int32) -> Bool { facts.continuesWord(id) }

  func isUninformative(_ id: Int32) -> Bool { facts.isUninformative(id) }

  /// Whether both were read from the same definition: of two that only come to the same, this says no.
  func agrees(with other: any Tokenizer) -> Bool {
    self === other || pipeline.fingerprint == (other as? PipelineTokenizer)?.pipeline.fingerprint
  }
}
