/// Formats a number with a fixed number of decimals, such as "-0.1204".
func decimal(_ number: Double, digits: Int) -> String {
  guard number.isFinite, abs(number) < 1e12 else { return number.description }
  var power = 1.0
  for _ in 0..<digits { power *= 10 }
  let scaled = Int((abs(number) * power).rounded())
  let fraction = String(scaled % Int(power))
  let zeros = String(repeating: "0", count: digits - fraction.utf8.count)
  return "\(number < 0 && scaled > 0 ? "-" : "")\(scaled / Int(power)).\(zeros)\(fraction)"
}
