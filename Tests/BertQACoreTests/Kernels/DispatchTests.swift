import CBertQA
import Testing

@testable import BertQACore

@Test func theBestInstructionSetIsTheLastThereIs() throws {
  let best = try #require(Kernels())
  #expect(best.table.isa == bq_best_isa())
  #expect(best.table.isa == instructionSets.last)
}

@Test func everyTableHasItsInstructionSetsKernels() throws {
  for isa in instructionSets {
    let table = try #require(Kernels(isa: isa)).table
    #expect(table.isa == isa)
    #expect(table.linear_f32 != nil && table.layer_norm_f32 != nil && table.attention_f32 != nil)
    #expect(table.quantize_u8 != nil && table.linear_s8 != nil)
    #expect(table.multiply_rows != nil && table.lstm_cell != nil && table.gru_cell != nil)
    // bfloat16 is there as a whole or not at all.
    let bf16 = [
      table.pack_bf16 != nil, table.linear_bf16 != nil, table.attention_bf16 != nil,
      table.attention_s8 != nil,
    ]
    #expect(Set(bf16).count == 1)
  }
}

@Test(arguments: [-1, 5, Int32.min, Int32.max])
func unknownInstructionSetsHaveNoKernels(isa: Int32) {
  #expect(Kernels(isa: isa) == nil)
}
