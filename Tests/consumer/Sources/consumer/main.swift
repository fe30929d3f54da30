// usage: consumer MODELS EMBEDDER    MODELS: models/ of the repository. EMBEDDER: a model that embeds.
import BertQACore

let models = CommandLine.arguments[1]
let embedder = CommandLine.arguments[2]

func check(_ condition: Bool, _ what: String) {
  guard condition else { fatalError(what) }
}

let document = "The quick brown fox jumps over the lethargic dog."
let question = "Who jumped over the dog?"
let answering = try Context(modelDirectory: models + "/qa-minilm-l6")
let result = try answering.answer(question: question, document: document)
guard let answer = result.answers.first else { fatalError("no answer") }
let range: Range<String.Index> = answer.range(in: document)
check(document[range] == "The quick brown fox", "the answer is \(document[range])")
check(answer.text(in: document) == document[range], "text(in:) and range(in:) differ")

// Characters before the answer that are longer in bytes than in UTF-16.
let accented = "🦊🦊 Ğ: " + document
let batch = try answering.answerBatch([
  (question: question, document: accented), (question: question, document: document),
])
check(batch[1].answers == result.answers, "a batch's answer differs from that of a single call")
check(batch[0].answers.first.map { accented[$0.range(in: accented)].hasSuffix("brown fox") } == true, "🦊")

let prepared = try answering.prepare(document)
let again = try answering.answerBatch(questions: [question, "What jumps?"], document: prepared)
check(again[0].answers == result.answers, "a prepared document's answer differs")

let topics = try Context(modelDirectory: models + "/topics-words")
let sentence = "The striker scored twice in the second half and the crowd sang until midnight."
let classification = try topics.classify(sentence)
check(classification.scores.first?.label == "sport", "the topic is \(classification)")

let embedding = try Context(modelDirectory: embedder)
let vectors = try embedding.embed(["the dog", "the king"])
check(vectors.count == 2 * embedding.info.embeddingLength, "\(vectors.count) numbers")
let king = try embedding.embed("the king")
check(king == Array(vectors.suffix(king.count)), "a batch's vector differs from that of a single call")

do {
  _ = try Context(modelDirectory: "/nonexistent")
  fatalError("a model that is not there was loaded")
} catch {
  check(error.status == .io, "\(error)")
}
// The code of the documentation's article, which run.sh puts beside this file.
try runArticle()
print(document[range])
