/// Generates HTML pages that need no other files or scripts and support light and dark colour schemes.
enum HTMLText {
  /// - Parameter help: what the page shows.
  static func row(_ help: String) -> OptionRow {
    OptionRow(
      .html, value: "FILE", use: .page, help,
      detail:
        "The page needs no other file and no network. FILE is replaced only if it is empty or such a page."
    )
  }

  /// Escapes text for any place in a page. U+FFFD replaces invalid UTF-8 and control characters; line ends
  /// and tabs stay.
  static func escaped(_ text: some Collection<UInt8>) -> String {
    var output = ""
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      case "'": output += "&#39;"
      case "\t", "\n", "\r": output.unicodeScalars.append(scalar)
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": output += "\u{FFFD}"
      default:
        // HTML does not allow noncharacters.
        let isNone = scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value)
        output.unicodeScalars.append(isNone ? "\u{FFFD}" : scalar)
      }
    }
    return output
  }

  static func escaped(_ text: String) -> String { escaped(text.utf8) }

  /// The first bytes of each generated page, by which the tool recognises its own pages.
  static let beginning = """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="generator" content="bertqa">

    """

  /// - Parameters:
  ///   - title: plain text, which is escaped here.
  ///   - style: CSS rules in addition to the common ones.
  static func page(title: String, style: String, body: String) -> String {
    beginning + """
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escaped(title))</title>
      <style>
      \(commonStyle)
      \(style)
      </style>
      </head>
      <body>
      <main>
      \(body)</main>
      </body>
      </html>

      """
  }

  private static let commonStyle = """
    :root { color-scheme: light dark; --text: #1c1e21; --page: #fff; --faint: #5c6370; --line: #d8dce2;
      --mark: #ffe08a; --accent: #0b57d0; }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e4e6ea; --page: #16181c; --faint: #9aa3af; --line: #363b43; --mark: #6b5200;
        --accent: #8ab4f8; }
    }
    body { color: var(--text); background: var(--page); font: 16px/1.5 system-ui, sans-serif; max-width: 60rem;
      margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; }
    a { color: var(--accent); }
    table { border-collapse: collapse; }
    th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
    td:not(.number), h2 { overflow-wrap: anywhere; }
    td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
    .faint { color: var(--faint); }
    """
}
