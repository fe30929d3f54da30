/// One step of normalisation: what tokenizers calls a normalizer. A sequence is several of them.
///
/// A new one is a conformance in a file of its own and a case in `Pipeline.normalizers`.
protocol Normalizer: Sendable {
  /// Whether `text` stays as it is: a quick look, for example whether it is ASCII. False if that is not known.
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool

  /// Whether it needs no `sources` of a text that is verbatim.
  var readsVerbatim: Bool { get }

  /// Appends to `target`, which is empty and of the same part, what becomes of `text`, which has `sources` unless it is
  /// verbatim and `readsVerbatim`, and seals it. Linear in the text.
  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError)

  /// Whether upper and lower case become the same.
  var lowercases: Bool { get }

  /// The table that it normalises by, if it is BERT's.
  var characterTable: NormalizationTable? { get }
}

extension Normalizer {
  func leaves(_ text: borrowing NormalizedText, _ monitor: CallMonitor?) throws(BertQAError) -> Bool { false }
  var lowercases: Bool { false }
  var readsVerbatim: Bool { false }
  var characterTable: NormalizationTable? { nil }
}
