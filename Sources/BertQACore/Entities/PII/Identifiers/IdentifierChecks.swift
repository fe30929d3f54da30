/// Check digits of national identifiers. Each takes a match of its shape.
enum IdentifierChecks {
  typealias Match = IdentifierShape.Match

  // MARK: - United States

  /// Areas, groups and serial numbers that the Social Security Administration issues.
  static func isSSN(_ number: Match) -> Bool {
    let area = number.number(0..<3)
    return area != 0 && area != 666 && area < 900 && number.number(3..<5) != 0 && number.number(5..<9) != 0
  }

  /// The Internal Revenue Service's groups.
  static func isITIN(_ number: Match) -> Bool {
    switch number.number(3..<5) {
    case 50...65, 70...88, 90...92, 94...99: number.digit(0) == 9
    default: false
    }
  }

  // MARK: - Europe

  /// NHS number: weights 10 to 2, modulo 11.
  static func isNHS(_ number: Match) -> Bool {
    (11 - number.sum([10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 == number.digit(9) && number.number(0..<9) != 0
  }

  /// National Insurance number: the prefixes and suffixes in use.
  static func isNINO(_ number: Match) -> Bool {
    let prefix = String(decoding: number.characters[..<2], as: UTF8.self)
    let unused = Array("DFIQUV".utf8)
    return !unused.contains(number[0]) && !unused.contains(number[1]) && number[1] != UInt8(ascii: "O")
      && !["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"].contains(prefix)
      && (UInt8(ascii: "A")...UInt8(ascii: "D")).contains(number[8])
  }

  /// Steuer-Identifikationsnummer: one digit of the first ten is there twice or three times; ISO 7064, MOD 11,10.
  static func isGermanTaxID(_ number: Match) -> Bool {
    var counts = [Int](repeating: 0, count: 10)
    for position in 0..<10 { counts[number.digit(position)] += 1 }
    let repeated = counts.filter { $0 > 1 }
    guard number.digit(0) != 0, repeated.count == 1, repeated[0] <= 3 else { return false }
    var product = 10
    for position in 0..<10 {
      let sum = (number.digit(position) + product) % 10
      product = (sum == 0 ? 10 : sum) * 2 % 11
    }
    return (11 - product) % 10 == number.digit(10)
  }

  /// Numéro de sécurité sociale: 97 minus the rest of the first 13 characters; the departments 2A and 2B count as 19
  /// and 18.
  static func isNIR(_ number: Match) -> Bool {
    let month = number.number(3..<5)
    guard [1, 2, 3, 4, 7, 8].contains(number.digit(0)),
      (1...12).contains(month) || (20...42).contains(month) || month > 49
    else { return false }
    let isCorsica = number[5] == UInt8(ascii: "2")
    var value = 0
    for position in 0..<13 {
      switch number[position] {
      // The 2 before the letter has been read.
      case UInt8(ascii: "A") where position == 6 && isCorsica: value = 10 * (value - 1) + 9
      case UInt8(ascii: "B") where position == 6 && isCorsica: value = 10 * (value - 1) + 8
      case let byte where TextBytes.isDigit(byte): value = 10 * value + number.digit(position)
      default: return false
      }
    }
    return 97 - value % 97 == number.number(13..<15)
  }

  /// DNI: eight digits and a letter, modulo 23. NIE: X, Y or Z counts as 0, 1 or 2.
  static func isDNI(_ number: Match) -> Bool {
    let first = number[0]
    guard TextBytes.isDigit(first) || (UInt8(ascii: "X")...UInt8(ascii: "Z")).contains(first) else {
      return false
    }
    let lead = TextBytes.isDigit(first) ? number.digit(0) : Int(first - UInt8(ascii: "X"))
    let value = 10_000_000 * lead + number.number(1..<8)
    return Array("TRWAGMYFPDXBNJZSQVHLCKE".utf8)[value % 23] == number[8]
  }

  /// Codice fiscale: letters may stand for digits (omocodia), and the last letter checks the others.
  static func isCodiceFiscale(_ number: Match) -> Bool {
    let odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    let omocodia = Array("LMNPQRSTUV".utf8)
    var sum = 0
    for position in 0..<15 {
      let byte = number[position]
      let mustBeDigit = [6, 7, 9, 10, 12, 13, 14].contains(position)
      if mustBeDigit { guard TextBytes.isDigit(byte) || omocodia.contains(byte) else { return false } }
      if !mustBeDigit { guard TextBytes.isLetter(byte) else { return false } }
      let value = TextBytes.isDigit(byte) ? number.digit(position) : Int(byte - UInt8(ascii: "A"))
      sum += position % 2 == 0 ? odd[value] : value
    }
    return Int(number[15]) == Int(UInt8(ascii: "A")) + sum % 26
  }

  /// Burgerservicenummer: weights 9 to 2 and -1, modulo 11.
  static func isBSN(_ number: Match) -> Bool {
    let sum = number.sum([9, 8, 7, 6, 5, 4, 3, 2]) - number.digit(8)
    return sum % 11 == 0 && number.number(0..<9) > 9_999_999
  }

  /// PESEL: the date of birth, its century in the month, and weights 1, 3, 7 and 9.
  static func isPESEL(_ number: Match) -> Bool {
    let (month, day) = (number.number(2..<4) % 20, number.number(4..<6))
    return (1...12).contains(month) && (1...31).contains(day)
      && (number.sum([1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) + number.digit(10)) % 10 == 0
  }

  // MARK: - Brazil

  private static func brazilianDigit(_ number: Match, _ weights: [Int]) -> Int {
    let rest = number.sum(weights) % 11
    return rest < 2 ? 0 : 11 - rest
  }

  private static func isOneDigit(_ number: Match) -> Bool { number.characters.allSatisfy { $0 == number[0] } }

  static func isCPF(_ number: Match) -> Bool {
    !isOneDigit(number) && brazilianDigit(number, Array((2...10).reversed())) == number.digit(9)
      && brazilianDigit(number, Array((2...11).reversed())) == number.digit(10)
  }

  static func isCNPJ(_ number: Match) -> Bool {
    let weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
    return !isOneDigit(number) && brazilianDigit(number, Array(weights.dropFirst())) == number.digit(12)
      && brazilianDigit(number, weights) == number.digit(13)
  }

  // MARK: - India

  static func isAadhaar(_ number: Match) -> Bool {
    number.digit(0) > 1 && verhoeff(number.characters) == 0
  }

  /// Verhoeff's check, which is 0 for right digits: products and permutations in the dihedral group of the pentagon.
  static func verhoeff(_ digits: some BidirectionalCollection<UInt8>) -> Int {
    let permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]
    var check = 0
    for (index, byte) in digits.reversed().enumerated() {
      var digit = Int(byte &- UInt8(ascii: "0"))
      for _ in 0..<index % 8 { digit = permutation[digit] }
      check = dihedralProduct(check, digit)
    }
    return check
  }

  private static func dihedralProduct(_ a: Int, _ b: Int) -> Int {
    if a < 5 { return b < 5 ? (a + b) % 5 : 5 + (a + b) % 5 }
    return b < 5 ? 5 + (a - b) % 5 : (a - b + 5) % 5
  }

  /// The fourth letter of a PAN is the kind of its holder.
  static func isPAN(_ number: Match) -> Bool {
    Array("ABCFGHJKLPT".utf8).contains(number[3]) && number.number(5..<9) != 0
  }

  // MARK: - Australia

  static func isTFN(_ number: Match) -> Bool {
    number.sum([1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 == 0 && number.number(0..<9) != 0
  }

  static func isMedicare(_ number: Match) -> Bool {
    (2...6).contains(number.digit(0)) && number.sum([1, 3, 7, 9, 1, 3, 7, 9]) % 10 == number.digit(8)
      && number.digit(9) != 0
  }
}
