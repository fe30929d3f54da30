/// The telephone numbers of all regions: their lengths, first digits and the groups in which they are written.
/// A national number (NSN) is the part after the calling code and without the trunk prefix, such as the 0 of most
/// countries.
struct NumberingPlans: Sendable {
  static let shared = NumberingPlans()

  struct Region: Sendable {
    /// Two ASCII letters (ISO 3166), or ZZ for calling codes of no country.
    var code: UInt16
    var callingCode: Int
    /// The digits that callers within the country dial before a national number; often none.
    var trunk: Digits
    /// The lengths of numbers that are written without the trunk prefix, as `lengths`.
    var bareLengths: UInt32 = 0
    /// Bit n is set if a national number may have n digits.
    var lengths: UInt32
    /// The node of `masks` and `children` at which the region's numbers begin.
    fileprivate var tree: Int
  }

  /// One way to write the numbers of one region.
  struct Form: Sendable {
    /// The digits of each group, four bits each, the first group lowest.
    var groups: UInt32
    /// The character before each group, two bits each; `separators` has them.
    var separators: UInt16
    var region: UInt16
    /// The digits before the national number: a place in `prefixes`.
    fileprivate var prefix: UInt8
  }

  /// The characters of `Form.separators`.
  static let separators: [UInt8] = [0x20, 0x2D, 0x2F, 0x2E]
  static let mostGroups = 8
  /// E.164's longest number, with its calling code.
  static let mostDigits = 15

  private(set) var regions: [Region] = []
  /// Sorted by `groups`.
  private var forms: [Form] = []
  private var prefixes: [Digits] = []
  /// The tree of mobile numbers that are dialled without a prefix, in all regions that tell them from others.
  private var mobiles = 0
  /// The regions of each calling code.
  private var regionsOfCode = [[Int]](repeating: [], count: 1000)
  /// The lengths of each calling code's national numbers; 0 for a code that is not in use.
  private var lengthsOfCode = [UInt32](repeating: 0, count: 1000)
  /// For a leaf the lengths of what may follow its digits; 0 for an inner node.
  private var masks: [UInt32] = []
  /// Ten nodes for each inner node, from `firstChild` on.
  private var children: [UInt16] = []
  private var firstChild: [Int] = []

  private init() {
    readNodes()
    readRegions(formats: Self.readFormats())
    forms = forms.sorted(byKey: { Int($0.groups) << 16 | Int($0.region) })
    // The table's last entry is not a region.
    mobiles = regions.removeLast().tree
    for (index, region) in regions.enumerated() {
      lengthsOfCode[region.callingCode] |= region.lengths
      regionsOfCode[region.callingCode].append(index)
    }
  }

  // MARK: - Queries

  /// Returns the number of the region with a code of two letters, in any case; nil if there is none.
  func region(_ code: some Collection<UInt8>) -> Int? {
    guard code.count == 2, code.allSatisfy(TextBytes.isLetter) else { return nil }
    let number = code.reduce(0 as UInt16) { $0 << 8 | UInt16($1 & 0xDF) }
    // "ZZ" is not a country.
    return number == 0x5A5A ? nil : regions.firstIndex { $0.code == number }
  }

  func regions(ofCallingCode code: Int) -> [Int] { regionsOfCode[code] }

  /// Returns the lengths of the national numbers of a calling code; 0 if it is not in use.
  func lengths(ofCallingCode code: Int) -> UInt32 { lengthsOfCode[code] }

  /// True if the digits are a national number of a region.
  func isValid(_ digits: Digits, _ region: Int) -> Bool { has(digits, regions[region].tree) }

  /// True if the digits are a mobile number that is dialled without a prefix in some region.
  func isMobile(_ digits: Digits) -> Bool { has(digits, mobiles) }

  /// True if the digits are written in a form of a region.
  func isValid(_ digits: Digits, in form: Form) -> Bool {
    let prefix = prefixes[Int(form.prefix)]
    return digits.starts(with: prefix) && isValid(digits.dropping(prefix.count), Int(form.region))
  }

  private func has(_ digits: Digits, _ tree: Int) -> Bool {
    var node = tree
    var position = digits.startIndex
    while firstChild[node] >= 0 {
      guard position < digits.endIndex else { return false }
      node = Int(children[firstChild[node] + Int(digits[position])])
      position += 1
    }
    return Self.has(digits.endIndex - position, masks[node])
  }

  /// True if the digits are a national number of a region after its trunk prefix.
  func isValidBehindTrunk(_ digits: Digits, _ region: Int) -> Bool {
    let trunk = regions[region].trunk
    return trunk.count > 0 && digits.starts(with: trunk) && isValid(digits.dropping(trunk.count), region)
  }

  /// Returns the ways to write a number in groups of these lengths, four bits each.
  func forms(of groups: UInt32) -> ArraySlice<Form> {
    var (first, high) = (0, forms.count)
    while first < high {
      let middle = (first + high) / 2
      if forms[middle].groups < groups { first = middle + 1 } else { high = middle }
    }
    var end = first
    while end < forms.count, forms[end].groups == groups { end += 1 }
    return forms[first..<end]
  }

  static func has(_ length: Int, _ mask: UInt32) -> Bool {
    (0..<32).contains(length) && mask >> UInt32(length) & 1 == 1
  }

  // MARK: - Reading the tables

  private struct Format {
    /// The digits before the national number.
    var prefix: Digits
    /// How many of them are a group of their own; the others belong to the next group.
    var apart: Int
    var groups: [(least: Int, most: Int, separator: UInt16)]
  }

  private mutating func readNodes() {
    var reader = VariableLengthReader(Self.nodes)
    while let count = reader.read(), let value = reader.read() {
      if count == 0 {
        masks.append(value)
        firstChild.append(-1)
        continue
      }
      let node = masks.count
      masks.append(0)
      firstChild.append(children.count)
      var left = 10
      var (count, distance) = (Int(count), Int(value))
      while true {
        for _ in 0..<min(count, left) { children.append(UInt16(max(0, node - distance))) }
        left -= count
        guard left > 0, let next = reader.read(), let place = reader.read() else { break }
        (count, distance) = (Int(next), Int(place))
      }
    }
  }

  private static func readFormats() -> [Format] {
    var reader = VariableLengthReader(Self.formats)
    var formats: [Format] = []
    while let prefix = reader.read(), let apart = reader.read(), let count = reader.read() {
      var groups: [(least: Int, most: Int, separator: UInt16)] = []
      for _ in 0..<count {
        guard let least = reader.read(), let more = reader.read(), let separator = reader.read() else {
          break
        }
        groups.append((Int(least), Int(least + more), UInt16(separator)))
      }
      formats.append(Format(prefix: digits(behindOneIn: prefix), apart: Int(apart), groups: groups))
    }
    return formats
  }

  private mutating func readRegions(formats: [Format]) {
    var reader = VariableLengthReader(Self.regionTable)
    while let first = reader.read(), let second = reader.read(), let callingCode = reader.read(),
      let trunk = reader.read(), let lengths = reader.read(), let tree = reader.read(),
      let count = reader.read()
    {
      regions.append(
        Region(
          code: UInt16(first + 65) << 8 | UInt16(second + 65), callingCode: Int(callingCode),
          trunk: Self.digits(behindOneIn: trunk), lengths: lengths, tree: Int(tree)))
      var format = 0
      for _ in 0..<count {
        format += Int(reader.read() ?? 0)
        addForms(formats[format], of: regions.count - 1)
      }
      // Regions without a form of their own write their few digits in one piece.
      if count == 0 { regions[regions.count - 1].bareLengths = lengths }
    }
  }

  /// Adds a format's forms, one for each sequence of lengths.
  private mutating func addForms(_ format: Format, of region: Int) {
    var groups = format.groups
    groups[0].least += format.prefix.count - format.apart
    groups[0].most += format.prefix.count - format.apart
    if format.apart > 0 { groups.insert((format.apart, format.apart, 0), at: 0) }
    guard groups.count <= Self.mostGroups else { return }
    var partial: [(groups: UInt32, separators: UInt16, digits: Int)] = [(0, 0, 0)]
    for (index, group) in groups.enumerated() {
      partial = partial.flatMap { one in
        (group.least...group.most).filter { one.digits + $0 <= Self.mostDigits }.map { length in
          (
            one.groups | UInt32(length) << UInt32(4 * index),
            one.separators | group.separator << UInt16(2 * index), one.digits + length
          )
        }
      }
    }
    let prefix = prefixes.firstIndex(of: format.prefix) ?? prefixes.count
    if prefix == prefixes.count { prefixes.append(format.prefix) }
    for one in partial {
      if format.prefix.count == 0 { regions[region].bareLengths |= 1 << UInt32(one.digits) }
      forms.append(
        Form(
          groups: one.groups, separators: one.separators, region: UInt16(region), prefix: UInt8(prefix)))
    }
  }

  /// Returns the decimal digits of a number of the tables, which has a 1 before them.
  private static func digits(behindOneIn number: UInt32) -> Digits {
    var digits = Digits()
    for byte in String(number).utf8.dropFirst() { digits.append(byte - UInt8(ascii: "0")) }
    return digits
  }
}
