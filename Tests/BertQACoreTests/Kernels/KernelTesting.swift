import CBertQA
import Glibc
import Testing

@testable import BertQACore

/// Every instruction set of this machine. Tests/c/kernels.sh lists those it lacks.
let instructionSets: [Int32] = (1...Int32(BQ_ISA_LAST)).filter { Kernels(isa: $0) != nil }

/// Those whose kernels multiply and add in one rounding.
let fusedInstructionSets: [Int32] = {
  #if arch(arm64)
    instructionSets
  #else
    instructionSets.filter { $0 > 1 }
  #endif
}()

/// Those that multiply bfloat16.
let bf16InstructionSets = instructionSets.filter { Kernels(isa: $0)?.table.linear_bf16 != nil }

/// Those that compute attention in bytes.
let s8AttentionInstructionSets = instructionSets.filter { Kernels(isa: $0)?.table.attention_s8 != nil }

/// True if the sums of four products of bytes must fit in 16 bits, which leaves fewer steps.
func hasFewSteps(_ isa: Int32) -> Bool { (Kernels(isa: isa)?.table.byte_steps ?? 253) < 253 }

/// The epilogues of every linear layer, and the additional ones of `linear_bf16`.
let f32Epilogues =
  [Kernels.Epilogue.bias, Kernels.Epilogue.residual, Kernels.Epilogue.gate]
  + ReferenceKernels.activations.keys.sorted()
let bf16Epilogues =
  [Kernels.Epilogue.bf16]
  + ([Kernels.Epilogue.bias] + ReferenceKernels.activations.keys.sorted()).map {
    $0 + Kernels.Epilogue.bf16Pairs
  }

extension Trait where Self == ConditionTrait {
  /// A parameterized test without arguments runs no case and passes: these say so instead.
  static var needsBF16: Self {
    .enabled(if: !bf16InstructionSets.isEmpty, "this CPU has no instruction set with bf16 products")
  }
  static var needsS8Attention: Self {
    .enabled(
      if: !s8AttentionInstructionSets.isEmpty, "this CPU has no instruction set with attention in bytes")
  }
  static var needsFMA: Self {
    .enabled(if: !fusedInstructionSets.isEmpty, "this CPU has no instruction set with FMA")
  }
}

/// Tests see the same numbers in every run.
struct TestRandom: RandomNumberGenerator {
  private var numbers: SplitMix64

  init(_ seed: some BinaryInteger) {
    numbers = SplitMix64(seed: UInt64(truncatingIfNeeded: seed) &* 0x2545_F491_4F6C_DD1D)
  }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func floats(_ count: Int, _ range: ClosedRange<Float> = -1...1) -> [Float] {
    (0..<count).map { _ in Float.random(in: range, using: &self) }
  }
}

/// Elements between two rows of canaries, aligned to 64 bytes plus `offset` elements.
final class GuardedBuffer<Element: Equatable> {
  let base: UnsafeMutablePointer<Element>
  let count: Int
  private let memory: UnsafeMutableRawPointer
  private let canary: Element
  private static var margin: Int { 64 }

  init(_ elements: [Element], canary: Element, offset: Int = 0) {
    count = elements.count
    self.canary = canary
    let size = (count + 2 * Self.margin + offset) * MemoryLayout<Element>.stride
    memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
    let all = memory.assumingMemoryBound(to: Element.self)
    all.initialize(repeating: canary, count: size / MemoryLayout<Element>.stride)
    base = all + Self.margin + offset
    base.update(from: elements, count: count)
  }

  deinit { memory.deallocate() }

  var elements: [Element] { Array(UnsafeBufferPointer(start: base, count: count)) }

  /// True if nothing was written on either side.
  var isIntact: Bool {
    (-Self.margin..<0).allSatisfy { base[$0] == canary }
      && (count..<count + Self.margin).allSatisfy { base[$0] == canary }
  }
}

extension GuardedBuffer where Element == Float {
  convenience init(_ elements: [Float], offset: Int = 0) {
    self.init(elements, canary: 12345.678, offset: offset)
  }
}
