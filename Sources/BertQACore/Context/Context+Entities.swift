extension Context {
  /// Finds the entities of texts in one call. Returns one result per text, in order. A result does not depend
  /// on the other texts. The first failure ends the call; its `item` is the text's index. Takes time linear
  /// in the texts' lengths.
  public func entities(
    of texts: [UnsafeBufferPointer<UInt8>], options: EntityOptions = EntityOptions()
  ) throws(BertQAError) -> [EntityList] {
    try all(options) { options throws(BertQAError) in try entitiesEach(of: texts, options: options) }
  }

  /// As `entities`, but a text's failure becomes that text's result. Throws failures of the whole call, such
  /// as an option out of range, cancellation or lack of memory.
  public func entitiesEach(
    of texts: [UnsafeBufferPointer<UInt8>], options: EntityOptions = EntityOptions()
  ) throws(BertQAError) -> [Result<EntityList, BertQAError>] {
    try recognizer().recognizeEach(texts, options)
  }

  /// Finds the entities of one text.
  public func entities(
    of text: UnsafeBufferPointer<UInt8>, options: EntityOptions = EntityOptions()
  ) throws(BertQAError) -> EntityList {
    try entities(of: [text], options: options)[0]
  }

  /// Finds the entities of one text. `Entity.text(in:)` and `Entity.range(in:)` return an entity's text and
  /// its place in `text`.
  public func entities(
    of text: String, options: EntityOptions = EntityOptions()
  ) throws(BertQAError) -> EntityList {
    try withBytes(of: text) { bytes throws(BertQAError) in try entities(of: bytes, options: options) }
  }

  /// Finds the entities of many texts. Returns one result per text, in order.
  public func entities(
    of texts: [String], options: EntityOptions = EntityOptions()
  ) throws(BertQAError) -> [EntityList] {
    try withBytes(of: texts) { texts throws(BertQAError) in try entities(of: texts, options: options) }
  }

  /// Throws the error that a call with these options would throw before it reads a text.
  public func validate(_ options: EntityOptions) throws(BertQAError) {
    _ = try recognizer().recognizeEach([], options)
  }

  private func recognizer() throws(BertQAError) -> any EntityFinder {
    guard case .entities(let recognizer) = try runningEngine() else {
      throw wrongModel(needed: .entities)
    }
    return recognizer
  }
}

extension Entity {
  /// Returns the entity's text, cut from the text that was read.
  public func text(in text: String) -> String { bytes.text(in: text) }

  /// Returns the entity's place in the text that was read.
  public func range(in text: String) -> Range<String.Index> { bytes.range(in: text) }
}
