import CBertQA
import Foundation
import Testing

@testable import BertQACore

@Test func theBestInstructionSetIsTheFirstOfThePreferred() throws {
  let best = try #require(Kernels())
  let preferred = [
    "avx512_vnni_bf16", "avx512_vnni", "avx512", "avx2_vnni", "avx2", "neon_i8mm_bf16", "neon_dotprod",
    "neon",
    "portable",
  ]
  let present = Set(instructionSets.compactMap { InstructionSet(rawValue: $0)?.description })
  #expect(best.table.isa == bq_best_isa())
  #expect(InstructionSet(rawValue: best.table.isa)?.description == preferred.first(where: present.contains))
}

#if arch(x86_64)
  /// Linux lists what the CPU has, less what the system does not support.
  @Test func instructionSetsAreThoseThatTheSystemLists() throws {
    let cpu = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = try #require(cpu.split(separator: "\n").first { $0.hasPrefix("flags") })
    let present = Set(line.split(whereSeparator: \.isWhitespace).map(String.init))
    let avx2 = ["avx2", "fma", "f16c"]
    let avx512 = avx2 + ["avx512f", "avx512bw", "avx512dq", "avx512vl"]
    let bf16 = avx512 + ["avx512_vnni", "avx512_bf16"]
    let needed = [
      "portable": [], "avx2": avx2, "avx2_vnni": avx2 + ["avx_vnni"], "avx512": avx512,
      "avx512_vnni": avx512 + ["avx512_vnni"], "avx512_vnni_bf16": bf16,
      "avx512_amx": bf16 + ["amx_bf16", "amx_tile", "amx_int8"],
    ]
    let found = instructionSets.compactMap { InstructionSet(rawValue: $0)?.description }
    #expect(Set(found) == Set(needed.filter { present.isSuperset(of: $0.value) }.keys))
  }
#endif

@Test func everyNumberUpToTheLastHasAnInstructionSetAndAName() {
  #expect(InstructionSet.allCases.map(\.rawValue) == Array(0...Int32(BQ_ISA_LAST)))
  #expect(InstructionSet.auto.description == "auto" && InstructionSet("avx2_vnni")?.rawValue == 6)
  for isa in InstructionSet.allCases { #expect(InstructionSet(isa.description) == isa) }
  #expect(InstructionSet("") == nil && InstructionSet("AVX2") == nil)
}

@Test(arguments: instructionSets)
func tablesAreComplete(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  #expect(table.isa == isa)
  #expect(table.linear_f32 != nil && table.layer_norm_f32 != nil && table.attention_f32 != nil)
  #expect(table.rotate_f32 != nil && table.relative_keys_f32 != nil && table.relative_bias != nil)
  #expect(table.quantize_u8 != nil && table.linear_s8 != nil)
  #expect(
    table.multiply_rows != nil && table.sum_rows != nil && table.lstm_cell != nil && table.gru_cell != nil)
  #expect(table.exp_f32 != nil && table.tanh_f32 != nil)
  let bf16 = [
    table.pack_bf16 != nil, table.linear_bf16 != nil, table.attention_bf16 != nil,
    table.relative_keys_bf16 != nil,
  ]
  let hasBF16 = [BQ_ISA_AVX512_VNNI_BF16, BQ_ISA_AVX512_AMX, BQ_ISA_NEON_I8MM_BF16].contains(Int(isa))
  #expect(bf16.allSatisfy { $0 == hasBF16 })
  let attendsInF32 = [BQ_ISA_PORTABLE, BQ_ISA_NEON, BQ_ISA_NEON_DOTPROD].contains(Int(isa))
  #expect((table.attention_s8 == nil) == attendsInF32)
}

/// Since Sapphire Rapids, which brought AVX512-FP16, Intel's CPUs multiply bf16 faster than f32 with AMX only.
@Test(arguments: instructionSets)
func bf16IsPreferredWhereItIsFaster(isa: Int32) throws {
  let kernels = try #require(Kernels(isa: isa))
  let cpu = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
  let isSlow =
    isa == Int32(BQ_ISA_AVX512_VNNI_BF16) && cpu.contains("GenuineIntel") && cpu.contains(" avx512_fp16 ")
  #expect(kernels.prefersBF16 == (kernels.table.linear_bf16 != nil && !isSlow))
}

@Test(arguments: [-1, Int32(BQ_ISA_LAST) + 1, Int32.min, Int32.max])
func unknownInstructionSetsHaveNoKernels(isa: Int32) {
  #expect(Kernels(isa: isa) == nil && InstructionSet(rawValue: isa) == nil)
}
