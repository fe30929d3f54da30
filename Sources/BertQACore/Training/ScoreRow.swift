/// As many of a row's scores as fit in registers. Memory has room for `count` of them.
protocol ScoreRow {
  static var count: Int { get }
  init()
  init(_ memory: UnsafePointer<Double>)
  func store(_ memory: UnsafeMutablePointer<Double>)
  /// Adds `factor` · `row`.
  mutating func add(_ row: Self, times factor: Double)
}

struct ScoreRow1: ScoreRow {
  private var value = 0.0

  static var count: Int { 1 }
  init() {}
  @inline(__always) init(_ memory: UnsafePointer<Double>) { value = memory.pointee }
  @inline(__always) func store(_ memory: UnsafeMutablePointer<Double>) { memory.pointee = value }
  @inline(__always) mutating func add(_ row: Self, times factor: Double) { value += factor * row.value }
}

struct ScoreRow4: ScoreRow {
  private var values = SIMD4<Double>()

  static var count: Int { 4 }
  init() {}
  @inline(__always) init(_ memory: UnsafePointer<Double>) {
    values = UnsafeRawPointer(memory).loadUnaligned(as: SIMD4<Double>.self)
  }
  @inline(__always) func store(_ memory: UnsafeMutablePointer<Double>) {
    UnsafeMutableRawPointer(memory).storeBytes(of: values, as: SIMD4<Double>.self)
  }
  @inline(__always) mutating func add(_ row: Self, times factor: Double) { values += factor * row.values }
}

/// Two rows side by side.
struct ScoreRowPair<First: ScoreRow, Second: ScoreRow>: ScoreRow {
  private var first = First()
  private var second = Second()

  static var count: Int { First.count + Second.count }
  init() {}
  @inline(__always) init(_ memory: UnsafePointer<Double>) {
    first = First(memory)
    second = Second(memory + First.count)
  }
  @inline(__always) func store(_ memory: UnsafeMutablePointer<Double>) {
    first.store(memory)
    second.store(memory + First.count)
  }
  @inline(__always) mutating func add(_ row: Self, times factor: Double) {
    first.add(row.first, times: factor)
    second.add(row.second, times: factor)
  }
}
