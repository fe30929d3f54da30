import Foundation
import Testing

@testable import BertQACore

struct QuantizerTests {
  let source: TemporaryDirectory
  let parent: TemporaryDirectory
  private var output: String { parent.file("int8") }

  init() throws {
    source = try TemporaryDirectory()
    parent = try TemporaryDirectory()
  }

  /// Hidden sizes whose tensors are all, partly and never multiples of 64 bytes long.
  @Test(
    arguments: [
      (64, 4, ModelTask.answer), (16, 2, .classify), (16, 2, .embed), (9, 3, .answer), (9, 3, .entities),
    ],
    TinyCheckpoint.families)
  func weightsStayClose(
    size: (hidden: Int, heads: Int, task: ModelTask), family: EncoderFamily
  ) throws {
    // Rotary positions need heads of an even size.
    if family.positions == .rotary, size.hidden / size.heads % 2 > 0 { return }
    try TinyCheckpoint(
      family, task: size.task, hidden: size.hidden, heads: size.heads, inner: 2 * size.hidden + 1
    ).write(to: source)
    let report = try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    let before = try LoadedModel(ModelDirectory(path: source.path))
    let after = try LoadedModel(ModelDirectory(path: output))
    #expect(after.configuration == before.configuration)
    let names = family.tensors
    var floats = [names.questionAnswering, names.classifier, names.tokenClassifier, family.pooler.module]
    floats += [names.distances].compactMap(\.self)
    switch family.embeddings {
    case .hidden: break
    case .projected(let name, _), .trigrams(let name): floats.append(name)
    }
    var squares = 0.0
    var count = 0
    before.withTensors { before in
      after.withTensors { after in
        for (old, new) in pairs(before, after) {
          #expect(new.name == old.name)
          #expect(new.shape == old.shape)
          let isFloat = floats.contains {
            new.name.hasPrefix($0) || "\(names.prefix)\(new.name)".hasPrefix($0)
          }
          let isKept = isFloat || new.shape.count == 1
          #expect(new.dataType == (isKept ? .f32 : .i8))
          if isKept {
            #expect(new.floats == old.floats)
            continue
          }
          checkElements(new)
          for (a, b) in pairs(old.floats, new.floats) {
            // Half a step, and what clipping a tenth off the range may cost.
            #expect(abs(a - b) <= 0.11)
            squares += Double(a - b) * Double(a - b)
          }
          count += new.bytes.count
        }
      }
    }
    let rms = (squares / Double(count)).squareRoot()
    #expect(abs(report.rmsError - rms) < 1e-3 * rms)
    // A uniform error of ±1/2 step is 1/√12 of a step of 1/127.
    #expect(report.rmsError < 1.0 / 127 / 12.0.squareRoot())
    #expect(report.rmsError <= report.rmsErrorOfLargest)
    #expect(report.quantizedCount == count)
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(output)/model.safetensors")
    #expect(attributes[.size] as? Int == report.bytesWritten)
  }

  private func checkElements(_ tensor: TensorView) {
    let elements = tensor.bytes.bindMemory(to: Int8.self)
    #expect(!elements.contains(-128))
    #expect((tensor.rowSums == nil) == tensor.name.contains("embeddings"))
    for (row, sum) in (tensor.rowSums ?? .init(start: nil, count: 0)).enumerated() {
      let values = elements[row * tensor.rowWidth..<(row + 1) * tensor.rowWidth]
      #expect(sum == values.reduce(0) { $0 + Int32($1) })
    }
  }

  @Test func tensorsAreAlignedAndProjectionsAdjacent() throws {
    try TinyCheckpoint(hidden: 64, heads: 4, inner: 128).write(to: source)
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    let file = try Safetensors(ModelFile(path: "\(output)/model.safetensors"))
    for (name, entry) in file.entries {
      let alignment = entry.range.count % 64 == 0 ? 64 : entry.type.bits / 8
      #expect(entry.range.lowerBound % alignment == 0, "\(name)")
    }
    let unaligned = file.entries.filter { $0.value.range.lowerBound % 64 != 0 }.keys
    #expect(unaligned.count <= 3)
    for suffix in ["weight", "weight_scale", "weight_sum", "bias"] {
      let parts = try ["query", "key", "value"].map {
        try #require(file.entries["bert.encoder.layer.1.attention.self.\($0).\(suffix)"]).range
      }
      #expect(parts[0].upperBound == parts[1].lowerBound)
      #expect(parts[1].upperBound == parts[2].lowerBound)
    }
  }

  @Test func sourceTypeAndShardsDoNotMatter() throws {
    try TinyCheckpoint().write(to: source)
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    let expected = try Data(contentsOf: URL(fileURLWithPath: "\(output)/model.safetensors"))
    for (type, shards) in [("F16", 1), ("BF16", 3), ("F32", 2)] {
      let other = try TemporaryDirectory()
      try TinyCheckpoint(type: type).write(to: other, shards: shards)
      let result = parent.file("\(type)-\(shards)")
      try Quantizer.quantize(ModelDirectory(path: other.path), to: result)
      #expect(try Data(contentsOf: URL(fileURLWithPath: "\(result)/model.safetensors")) == expected)
    }
  }

  @Test func configurationIsKeptAndCompleted() throws {
    var checkpoint = TinyCheckpoint()
    checkpoint.config["id2label"] = .object(.init(members: [.init(key: "0", value: .string("é"))]))
    checkpoint.config["bertqa"] = .object(.init(members: [.init(key: "note", value: .bool(true))]))
    try checkpoint.write(to: source)
    try Quantizer.quantize(
      ModelDirectory(path: source.path), to: output, options: .threshold(5.7))
    let written = try ObjectReader(ModelFile(path: "\(output)/config.json"))
    for (key, value) in checkpoint.config where key != "bertqa" { #expect(written.value(key) == value) }
    let own = try #require(try written.reader("bertqa"))
    #expect(own.value("weight_format") == .string("int8"))
    #expect(try own.number("no_answer_threshold") == 5.7)
    #expect(try own.bool("note") == true)
    #expect(try LoadedModel(ModelDirectory(path: output)).configuration.noAnswerThreshold == 5.7)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: output).sorted()
        == ["config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"])
    #expect(
      try String(contentsOfFile: "\(output)/vocab.txt", encoding: .utf8) == source.text("vocab.txt"))
  }

  @Test func howTextsBecomeVectorsIsKept() throws {
    try TinyCheckpoint(task: .embed).write(to: source)
    try source.write("{\"max_seq_length\": 12}", to: "sentence_bert_config.json")
    try source.makeDirectory("1_Pooling")
    try source.write("{\"pooling_mode_cls_token\": true}", to: "1_Pooling/config.json")
    try source.write(
      """
      [{"type": "sentence_transformers.models.Transformer", "path": ""},
       {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
       {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}]
      """, to: "modules.json")
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    let before = try #require(try LoadedModel(ModelDirectory(path: source.path)).embedding)
    #expect(before.pooling == .first && before.normalizes && before.maxSequenceLength == 12)
    #expect(try LoadedModel(ModelDirectory(path: output)).embedding == before)
    let own = try #require(try ObjectReader(ModelFile(path: "\(output)/config.json")).reader("bertqa"))
    #expect(own.value("no_answer_threshold") == nil)
    #expect(own.value("pooling") == .string("cls"))
  }

  @Test func onlyModelsThatAnswerHaveAThreshold() throws {
    try TinyCheckpoint(task: .classify).write(to: source)
    let error = failure {
      try Quantizer.quantize(
        ModelDirectory(path: source.path), to: output, options: .threshold(1))
    }
    #expect(error?.status == .invalidArgument)
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    #expect(try LoadedModel(ModelDirectory(path: output)).configuration.labels == ["x", "y", "z"])
  }

  @Test func tokenizerFilesAreKept() throws {
    let checkpoint = TinyCheckpoint()
    try checkpoint.write(to: source)
    try source.remove("vocab.txt")
    let vocab = checkpoint.vocabulary.enumerated().map { "\"\($1)\": \($0)" }
    try source.write(
      """
      {"model": {"type": "WordPiece", "vocab": {\(vocab.joined(separator: ", "))}},
       "normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": true}}
      """, to: "tokenizer.json")
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    let after = try TokenizerFiles(path: output)
    let before = try TokenizerFiles(path: source.path)
    #expect(try after.makeTokenizer().agrees(with: before.makeTokenizer()))
    #expect(before.settings != nil && after.settings == nil)
    #expect(!after.lowercases)
    #expect(after.vocabularySize == checkpoint.vocabulary.count)
  }

  /// Nothing may remain of a failed attempt, nor may anything there be touched.
  @Test func failuresLeaveNothing() throws {
    var checkpoint = TinyCheckpoint()
    let name = "bert.encoder.layer.1.output.dense.weight"
    var tensor = try #require(checkpoint.tensors[name])
    tensor.bytes.replaceSubrange(64 * 3 + 8..<64 * 3 + 12, with: [0, 0, 0xC0, 0x7F])
    checkpoint.tensors[name] = tensor
    try checkpoint.write(to: source)
    let error = failure { try Quantizer.quantize(ModelDirectory(path: source.path), to: output) }
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("tensor \"\(name)\": element 50 is an infinity or NaN") == true)
    #expect(try parent.names == [])

    try source.remove("model.safetensors")
    #expect(failure { try Quantizer.quantize(ModelDirectory(path: source.path), to: output) }?.status == .io)
    #expect(try parent.names == [])
  }

  @Test func outputMustBeFresh() throws {
    try TinyCheckpoint().write(to: source)
    func status(_ path: String) -> Status? {
      failure { try Quantizer.quantize(ModelDirectory(path: source.path), to: path) }?.status
    }
    try parent.write("x", to: "README")
    #expect(status(parent.path) == .invalidArgument)
    #expect(status(source.path) == .invalidArgument)
    #expect(status(parent.file("README")) == .io)
    #expect(status(parent.file("missing/int8")) == .io)
    for path in ["", ".", "..", "/", "a\0b"] { #expect(status(path) == .invalidArgument) }
    #expect(try parent.names == ["README"])

    // An empty directory will do, trailing slashes too.
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
    #expect(status(output + "//") == nil)
    #expect(status(output) == .invalidArgument)
    let again = failure { try Quantizer.quantize(ModelDirectory(path: output), to: parent.file("again")) }
    #expect(again?.message == "\(output): the model is already int8")
    #expect(try parent.names == ["README", "int8"])
  }

  @Test func thresholdMustBeANumber() throws {
    try TinyCheckpoint().write(to: source)
    for threshold in [Float.nan, .infinity] {
      let error = failure {
        try Quantizer.quantize(
          ModelDirectory(path: source.path), to: output, options: .threshold(threshold))
      }
      #expect(error?.status == .invalidArgument)
    }
  }

  /// Rows no checkpoint should have.
  @Test(
    arguments: [
      [0, 0, 0], [0x1p-149, -0x1p-149, 0], [1e-38, 1e-38, -1e-38], [3.4e38, -3.4e38, 0],
      [3.4e38, 0x1p-149, 0],
      [-0.0, 0, 1], [5],
    ] as [[Float]])
  func extremeRows(row: [Float]) throws {
    var quantizer = RowQuantizer()
    var elements = [Int8](repeating: 99, count: row.count)
    let result = try #require(
      row.withUnsafeBufferPointer { row in
        elements.withUnsafeMutableBufferPointer { elements in
          elements.baseAddress.flatMap { quantizer.quantize(row, to: $0) }
        }
      })
    #expect(result.scale.isFinite && result.scale >= 0)
    #expect(result.sum == elements.reduce(0) { $0 + Int32($1) })
    let largest = row.map(\.magnitude).max() ?? 0
    for (value, element) in pairs(row, elements) {
      // Rows below 127 · 2⁻¹²⁶ become zero.
      #expect(abs(value - Float(element) * result.scale) <= max(largest * 0.004, 1.6e-36))
    }
  }
}
