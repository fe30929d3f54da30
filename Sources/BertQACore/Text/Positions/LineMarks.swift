/// Marks that lay out a text rather than belong to its words.
enum LineMarks {
  /// True for the marks of a list's items; not for numbers.
  static func isBullet(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x2A, 0x2B, 0x2D: true  // * + -
    case 0xB7, 0x2022, 0x2023, 0x2043, 0x2219: true  // · • ‣ ⁃ ∙
    case 0x2013, 0x2014: true  // – —
    case 0x25A0...0x25FF, 0x2605, 0x2606: true  // ■ □ ▪ ► ○ ● ◦ ★ ☆
    case 0x2192, 0x2713, 0x2714, 0x27A2, 0x27A4: true  // → ✓ ✔ ➢ ➤
    case 0xF0A7, 0xF0B7: true  // of the fonts Wingdings and Symbol
    default: false
    }
  }

  /// True for Unicode's box drawing characters, which draw the lines of tables and trees: `│` `─` `├`.
  static func isBoxDrawing(_ scalar: UInt32) -> Bool { 0x2500...0x257F ~= scalar }

  /// True for `¶`, which in the text of a web page is the link to a heading before it.
  static func isPilcrow(_ scalar: UInt32) -> Bool { scalar == 0xB6 }
}
