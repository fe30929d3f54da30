import Testing

@testable import BertQACore

struct ModelConfigurationTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func read(_ text: String) throws -> ModelConfiguration { try directory.configuration(text) }

  private func readBert(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"BertForQuestionAnswering\"]\(members)}")
  }

  private func readDistilBert(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"DistilBertForQuestionAnswering\"]\(members)}")
  }

  @Test func readsBert() throws {
    let configuration = try readBert(
      """
      , "vocab_size": 100, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
      "intermediate_size": 96, "hidden_act": "gelu_python", "max_position_embeddings": 64,
      "type_vocab_size": 1, "layer_norm_eps": 1e-5, "position_embedding_type": "absolute",
      "is_decoder": false, "add_cross_attention": false, "pruned_heads": {}, "id2label": null,
      "bertqa": {"no_answer_threshold": 5.7}
      """)
    let expected = ModelConfiguration(
      architecture: .encoder(.bert, .spans), vocabSize: 100, hiddenSize: 48, layerCount: 3,
      headCount: 4, intermediateSize: 96, maxPositions: 64, typeVocabSize: 1, layerNormEps: 1e-5,
      noAnswerThreshold: 5.7)
    #expect(configuration == expected)
  }

  @Test func readsWhatGapsAreWorth() throws {
    let configuration = try readBert(
      """
      , "bertqa": {"no_answer_threshold": -0.5, "threshold_rise": 0.25,
        "calibration": {"slope": 0.5, "midpoint": -1, "span_temperature": 0.75}}
      """)
    #expect(configuration.noAnswerThreshold == -0.5 && configuration.thresholdRise == 0.25)
    #expect(
      configuration.answerCalibration
        == AnswerCalibration(slope: 0.5, midpoint: -1, spanTemperature: 0.75))
    let old = try readBert(", \"bertqa\": {\"calibration\": null}")
    #expect(old.thresholdRise == 0 && old.answerCalibration == nil)
  }

  @Test func readsDistilBert() throws {
    let configuration = try readDistilBert(
      """
      , "vocab_size": 100, "dim": 48, "n_layers": 3, "n_heads": 4, "hidden_dim": 96,
      "activation": "gelu", "max_position_embeddings": 64, "sinusoidal_pos_embds": true,
      "layer_norm_eps": 0.5
      """)
    let expected = ModelConfiguration(
      architecture: .encoder(.distilBert, .spans), family: .distilBert, vocabSize: 100, hiddenSize: 48,
      layerCount: 3, headCount: 4, intermediateSize: 96, maxPositions: 64,
      typeVocabSize: 0, layerNormEps: 1e-12)
    #expect(configuration == expected)
  }

  @Test func defaultsAreThoseOfHuggingFace() throws {
    let bert = ModelConfiguration(
      vocabSize: 30522, hiddenSize: 768, layerCount: 12, headCount: 12, intermediateSize: 3072,
      maxPositions: 512, typeVocabSize: 2, layerNormEps: 1e-12)
    #expect(try readBert("") == bert)
    let distilBert = try readDistilBert("")
    #expect(distilBert.layerCount == 6)
    #expect(distilBert.hiddenSize == 768)
    #expect(
      try read("{\"architectures\": [\"Other\", \"BertForQuestionAnswering\"]}") == bert)
  }

  private func readModel(_ architecture: String, _ members: String = "") throws -> ModelConfiguration {
    try directory.configuration(of: architecture, members)
  }

  /// The values that `transformers` 5.23 prints for `RobertaConfig()` and the others.
  @Test func defaultsOfOtherFamilies() throws {
    func summary(_ name: String) throws -> [Int] {
      let c = try readModel(name)
      return [
        c.vocabSize, c.hiddenSize, c.embeddingSize, c.layerCount, c.headCount, c.intermediateSize,
        c.maxPositions, c.typeVocabSize,
      ]
    }
    #expect(try summary("RobertaModel") == [50265, 768, 768, 12, 12, 3072, 510, 2])
    for name in ["XLMRobertaModel", "CamembertModel"] {
      #expect(try summary(name) == [30522, 768, 768, 12, 12, 3072, 510, 2])
    }
    #expect(try summary("ElectraModel") == [30522, 256, 128, 12, 4, 1024, 512, 2])
    #expect(try summary("AlbertModel") == [30000, 4096, 128, 12, 64, 16384, 512, 2])
    #expect(try summary("ModernBertModel") == [50368, 768, 768, 22, 12, 1152, 8192, 0])
    #expect(try readModel("AlbertModel").activation == .geluTanh)
    #expect(try readModel("ElectraModel").activation == .gelu)
    #expect(try readModel("ElectraModel", "\"embedding_size\": 256").projectedEmbeddingSize == nil)
    #expect(try readModel("AlbertModel", "\"embedding_size\": 4096").projectedEmbeddingSize == 4096)
  }

  @Test(arguments: [
    ("gelu_python", Activation.gelu), ("gelu_new", .geluTanh), ("gelu_fast", .geluTanh),
    ("gelu_pytorch_tanh", .geluTanh), ("relu", .relu), ("silu", .silu), ("swish", .silu), ("tanh", .tanh),
  ])
  func readsActivations(name: String, activation: Activation) throws {
    #expect(try readBert(", \"hidden_act\": \"\(name)\"").activation == activation)
    #expect(try readDistilBert(", \"activation\": \"\(name)\"").activation == activation)
  }

  @Test(arguments: [
    ("\"hidden_size\": 0", "\"hidden_size\" is 0, expected an integer in 1...65536"),
    ("\"hidden_size\": 768.5", "\"hidden_size\" is 768.5, expected an integer"),
    ("\"hidden_size\": \"768\"", "\"hidden_size\" is \"768\", expected an integer"),
    ("\"hidden_size\": 1e99", "\"hidden_size\" is 1e+99"),
    ("\"hidden_size\": 65537", "\"hidden_size\" is 65537"),
    ("\"num_attention_heads\": 7", "hidden size 768 is not divisible by 7 attention heads"),
    ("\"num_attention_heads\": -12", "\"num_attention_heads\" is -12"),
    ("\"num_hidden_layers\": 1000000000", "\"num_hidden_layers\" is 1000000000"),
    ("\"intermediate_size\": []", "\"intermediate_size\" is an array"),
    ("\"vocab_size\": 9223372036854775807", "\"vocab_size\" is 9223372036854775807"),
    ("\"max_position_embeddings\": 2", "\"max_position_embeddings\" is 2"),
    ("\"type_vocab_size\": 0", "\"type_vocab_size\" is 0"),
    ("\"layer_norm_eps\": 0", "\"layer_norm_eps\" is 0.0, expected within (0, 1)"),
    ("\"layer_norm_eps\": 1e-300", "\"layer_norm_eps\" is 1e-300"),
    ("\"layer_norm_eps\": \"x\"", "\"layer_norm_eps\" is \"x\", expected a number"),
    ("\"hidden_act\": 1", "\"hidden_act\" is 1, expected a string"),
    ("\"bertqa\": 1", "\"bertqa\" is 1, expected an object"),
    ("\"bertqa\": {\"no_answer_threshold\": 1e300}", "\"no_answer_threshold\" is out of range"),
    ("\"bertqa\": {\"threshold_rise\": -0.1}", "\"threshold_rise\" is -0.1, expected 0.0 to"),
    ("\"bertqa\": {\"threshold_rise\": \"x\"}", "\"threshold_rise\" is \"x\", expected a number"),
    ("\"bertqa\": {\"calibration\": 1}", "\"calibration\" is 1, expected an object"),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 0}}",
      "\"calibration\" has no \"span_temperature\""
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 0, \"midpoint\": 0, \"span_temperature\": 1}}",
      "\"slope\" is 0"
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 1e300, \"span_temperature\": 1}}",
      "\"midpoint\" is 1e+300"
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 0, \"span_temperature\": -1}}",
      "\"span_temperature\" is -1"
    ),
  ])
  func refusesInvalid(member: String, message: String) throws {
    let error = try #require(failure { _ = try readBert(", \(member)") })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  @Test(arguments: [
    ("\"hidden_act\": \"mish\"", "\"hidden_act\" is \"mish\"; supported: \"gelu\", \"gelu_accurate\", "),
    ("\"position_embedding_type\": \"relative_key\"", "\"position_embedding_type\" is \"relative_key\""),
    ("\"is_decoder\": true", "\"is_decoder\" is true; only false is supported"),
    ("\"is_decoder\": 1", "\"is_decoder\" is 1; only false is supported"),
    ("\"add_cross_attention\": true", "\"add_cross_attention\" is true"),
    ("\"is_causal\": true", "\"is_causal\" is true"),
    ("\"pruned_heads\": {\"0\": [1]}", "\"pruned_heads\" is an object"),
    ("\"quantization_config\": {}", "\"quantization_config\" is an object"),
  ])
  func refusesUnsupported(member: String, message: String) throws {
    let error = try #require(failure { _ = try readBert(", \(member)") })
    #expect(error.status == .unsupported)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  private func readClassifier(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"BertForSequenceClassification\"]\(members)}")
  }

  @Test func readsLabels() throws {
    let named = try readClassifier(
      ", \"id2label\": {\"2\": \"c\", \"0\": \"a\", \"1\": \"b\"}, \"num_labels\": 3")
    #expect(named.labels == ["a", "b", "c"] && named.problemType == .singleLabel)
    let standard = try readClassifier("")
    #expect(standard.labels == ["LABEL_0", "LABEL_1"] && standard.problemType == .singleLabel)
    let number = try readClassifier(", \"num_labels\": 1, \"id2label\": null")
    #expect(number.labels == ["LABEL_0"] && number.problemType == .regression)
    for (name, problemType) in [
      ("single_label_classification", ProblemType.singleLabel),
      ("multi_label_classification", .multiLabel), ("regression", .regression),
    ] {
      #expect(try readClassifier(", \"problem_type\": \"\(name)\"").problemType == problemType)
    }
    // transformers takes these.
    for (members, labels) in [
      ("\"id2label\": {\"0\": 7, \"1\": \"\"}", ["7", "LABEL_1"]),
      ("\"id2label\": {\"0\": \"a\"}, \"num_labels\": 2", ["LABEL_0", "LABEL_1"]),
      ("\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"num_labels\": 1", ["LABEL_0"]),
      ("\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"problem_type\": \"guess\"", ["a", "b"]),
    ] {
      let loose = try readClassifier(", \(members)")
      #expect(loose.labels == labels && loose.problemType == (labels.count == 1 ? .regression : .singleLabel))
    }
    // Models for other tasks have them too, to no effect.
    #expect(try readBert(", \"id2label\": 7, \"problem_type\": \"x\"").labels.isEmpty)
  }

  @Test(arguments: [
    ("\"id2label\": []", "\"id2label\" is an array, expected an object"),
    ("\"id2label\": {}", "\"id2label\" has 0 labels, expected 1 to 65536"),
    ("\"id2label\": {\"1\": \"a\"}", "\"id2label\" has the id \"1\", expected each of 0 to 0 once"),
    ("\"id2label\": {\"x\": \"a\"}", "\"id2label\" has the id \"x\""),
    ("\"id2label\": {\"-1\": \"a\"}", "\"id2label\" has the id \"-1\""),
    ("\"id2label\": {\"0\": \"a\", \"00\": \"b\"}", "\"id2label\" has the id \"00\""),
    ("\"id2label\": {\"0\": 0.5}", "\"0\" is 0.5, expected a label's name"),
    ("\"id2label\": {\"0\": \"a\\u0000\"}", "\"0\" is \"a"),
    ("\"num_labels\": 0", "\"num_labels\" is 0, expected an integer in 1...65536"),
    ("\"num_labels\": 1e9", "\"num_labels\" is 1000000000.0"),
    ("\"problem_type\": 1", "\"problem_type\" is 1, expected a string"),
  ])
  func refusesInvalidLabels(members: String, message: String) throws {
    let error = try #require(failure { _ = try readClassifier(", \(members)") })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  @Test func everyFamilyHasEveryHead() throws {
    let names = Architecture.all.map(\.name)
    #expect(Set(names).count == names.count)
    for family in EncoderFamily.all {
      for (prefix, head) in family.classPrefixes.flatMap({ p in HeadKind.allCases.map { (p, $0) } }) {
        let configuration = try read("{\"architectures\": [\"\(prefix)\(head.classSuffix)\"]}")
        #expect(configuration.family == family && configuration.head == head)
      }
    }
  }

  /// Their heads are left out.
  @Test func classesForPretrainingGiveVectors() throws {
    for family in EncoderFamily.all {
      for prefix in family.classPrefixes {
        for suffix in ["ForMaskedLM", "ForPreTraining", "LMHeadModel"] {
          let configuration = try read("{\"architectures\": [\"\(prefix)\(suffix)\"]}")
          #expect(configuration.family == family && configuration.head == .vectors)
          #expect(configuration.architecture.name == prefix + suffix)
        }
      }
    }
    #expect(
      try read("{\"architectures\": [\"BertForMaskedLM\"], \"is_decoder\": true}", orStatus: .unsupported)
        == nil)
  }

  /// nil if reading fails with this status.
  private func read(_ text: String, orStatus status: Status) throws -> ModelConfiguration? {
    do {
      return try read(text)
    } catch let error as BertQAError where error.status == status {
      return nil
    }
  }

  @Test(arguments: [
    ("{}", "no \"architectures\""), ("{\"architectures\": null}", "no \"architectures\""),
    ("{\"architectures\": [1]}", "no \"architectures\""),
    ("{\"architectures\": [\"GPT2LMHeadModel\"]}", "architecture \"GPT2LMHeadModel\""),
  ])
  func namesTheSupportedArchitectures(text: String, found: String) throws {
    let supported = Architecture.summary
    #expect(supported.hasPrefix("{Bert,DistilBert"))
    #expect(supported.contains("}{ForQuestionAnswering,"))
    #expect(
      supported.hasSuffix(
        "}, HF_ColBERT, WordCountClassifier, EmbeddingClassifier, LSTMLanguageModel, GRULanguageModel, StaticModel, StaticEmbedding"
      ))
    #expect(
      failure { _ = try read(text) }
        == BertQAError(
          .unsupported, "\(directory.file("config.json")): \(found); supported: \(supported)"))
  }
}

extension TemporaryDirectory {
  /// Reads a config.json with this text.
  func configuration(_ text: String) throws -> ModelConfiguration {
    let reader = try ObjectReader(ModelFile(path: write(text, to: "config.json")))
    return try ModelConfiguration(reader, Architecture(reader))
  }

  /// Reads a config.json with this architecture and these other members.
  func configuration(of architecture: String, _ members: String) throws -> ModelConfiguration {
    try configuration("{\"architectures\": [\"\(architecture)\"]\(members.isEmpty ? "" : ", \(members)")}")
  }
}
