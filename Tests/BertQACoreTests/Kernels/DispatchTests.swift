import CBertQA
import Testing

@testable import BertQACore

@Test func theBestInstructionSetIsTheFirstOfThePreferred() throws {
  let best = try #require(Kernels())
  let preferred: [InstructionSet] = [
    .avx512VNNIBF16, .avx512VNNI, .avx512, .avx2VNNI, .avx2, .neonI8MMBF16,
    .neonDotProduct, .neon, .portable,
  ]
  #expect(best.table.isa == bq_best_isa())
  #expect(best.table.isa == preferred.first { instructionSets.contains($0.rawValue) }?.rawValue)
}

/// One test for each instruction set, so that a run lists as skipped those that this machine lacks: no
/// other test covers them either.
@Suite struct KernelTableTests {
  private static func has(_ isa: InstructionSet) -> Bool { instructionSets.contains(isa.rawValue) }

  @Test func portable() throws { try check(.portable) }

  @Test(.enabled(if: has(.avx2), "no test covers AVX2: this CPU lacks it"))
  func avx2() throws { try check(.avx2) }

  @Test(.enabled(if: has(.avx2VNNI), "no test covers AVX-VNNI: this CPU lacks it"))
  func avx2VNNI() throws { try check(.avx2VNNI) }

  @Test(.enabled(if: has(.avx512), "no test covers AVX-512: this CPU lacks it"))
  func avx512() throws { try check(.avx512) }

  @Test(.enabled(if: has(.avx512VNNI), "no test covers AVX-512 VNNI: this CPU lacks it"))
  func avx512VNNI() throws { try check(.avx512VNNI) }

  @Test(.enabled(if: has(.avx512VNNIBF16), "no test covers AVX-512 BF16: this CPU lacks it"))
  func avx512VNNIBF16() throws { try check(.avx512VNNIBF16) }

  @Test(.enabled(if: has(.avx512AMX), "no test covers AMX: this CPU or Linux lacks it"))
  func avx512AMX() throws { try check(.avx512AMX) }

  #if arch(arm64)
    @Test func neon() throws { try check(.neon) }

    @Test(.enabled(if: has(.neonDotProduct), "no test covers NEON's dot products: this CPU lacks them"))
    func neonDotProduct() throws { try check(.neonDotProduct) }

    @Test(.enabled(if: has(.neonI8MMBF16), "no test covers I8MM and BF16: this CPU lacks them"))
    func neonI8MMBF16() throws { try check(.neonI8MMBF16) }
  #endif

  private func check(_ isa: InstructionSet) throws {
    let table = try #require(Kernels(isa: isa.rawValue)).table
    #expect(table.isa == isa.rawValue)
    #expect(table.linear_f32 != nil && table.layer_norm_f32 != nil && table.attention_f32 != nil)
    #expect(table.relative_keys_f32 != nil && table.relative_bias != nil)
    #expect(table.quantize_u8 != nil && table.linear_s8 != nil)
    #expect(table.multiply_rows != nil && table.lstm_cell != nil && table.gru_cell != nil)
    #expect(table.exp_f32 != nil && table.tanh_f32 != nil)
    let bf16 = [
      table.pack_bf16 != nil, table.linear_bf16 != nil, table.attention_bf16 != nil,
      table.attention_s8 != nil, table.relative_keys_bf16 != nil,
    ]
    let hasBF16 = [.avx512VNNIBF16, .avx512AMX, .neonI8MMBF16].contains(isa)
    #expect(bf16.allSatisfy { $0 == hasBF16 })
  }
}

@Test(arguments: [-1, 11, Int32.min, Int32.max])
func unknownInstructionSetsHaveNoKernels(isa: Int32) {
  #expect(Kernels(isa: isa) == nil)
}
