/// What the words before a number say about it: the nearest word for telephones on the same line, or a word for another
/// number with nothing between but such words as "no.".
struct PhoneContext {
  private enum Meaning {
    case phone
    /// A number of another kind.
    case other
  }

  private let meaning: Meaning?
  /// The place of the word that has the meaning; nil if none does.
  let word: Range<Int>?

  var isPhone: Bool { meaning == .phone }
  var isOther: Bool { meaning == .other }

  /// True if the word for telephones ends at a place.
  func isPhone(behindWordTo end: Int) -> Bool { isPhone && word?.upperBound == end }

  /// The number of bytes before a number that are searched for words.
  private static let reach = 64
  private static let mostWords = 6
  /// Fewer digits are not a number of their own.
  private static let fewestDigits = 6

  init(_ text: TextBytes, before start: Int) {
    var position = start
    let low = max(0, start - Self.reach)
    var meaning: Meaning?
    var word: Range<Int>?
    var digits = 0
    var isNamed = true
    for _ in 0..<Self.mostWords where meaning == nil {
      while position > low, text.letterSize(before: position, begin: low) == 0,
        text[position - 1] != UInt8(ascii: "\n")
      {
        if text[position - 1] == UInt8(ascii: "#"), position == start || text.isDigit(position) {
          meaning = .other
        }
        if text.isDigit(position - 1) { digits += 1 }
        position -= 1
      }
      let end = position
      position = text.wordStart(before: end, begin: low)
      guard position < end, meaning == nil else { break }
      // "Bestell-Nr." is one word.
      if text[position - 1] == UInt8(ascii: "-"), Self.numberEndings.contains(text.spelling(position..<end)) {
        let first = text.wordStart(before: position - 1, begin: low)
        if first < position - 1 { position = first }
      }
      // The number between is the one that "order" names. An order elsewhere in the sentence names none.
      if let found = text.part(of: position..<end, Self.meaning),
        found.1 == .phone
          ? !Self.isOfProgram(found.0, in: position..<end, text) : digits < Self.fewestDigits && isNamed
      {
        word = found.0
        meaning = found.1
      }
      // "total_memory" is one name.
      isNamed =
        isNamed
        && (Self.betweenWords.contains(text.spelling(position..<end))
          || text[position - 1] == UInt8(ascii: "_"))
    }
    self.meaning = meaning
    self.word = word
  }

  /// True for a verb in a name of programmers, who call functions: `GetCallContext`, `do_call`.
  private static func isOfProgram(_ part: Range<Int>, in word: Range<Int>, _ text: TextBytes) -> Bool {
    let underscore = UInt8(ascii: "_")
    let isPart =
      part != word || text[word.lowerBound - 1] == underscore || text[word.upperBound] == underscore
    return isPart && verbs.contains(text.spelling(part))
  }

  /// Of the words for telephones.
  private static let verbs = Set(words: "call called calling callback ring dial")

  private static func meaning(of word: String) -> Meaning? {
    if phoneWords.contains(word) { return .phone }
    if otherWords.contains(word) { return .other }
    if let ending = numberEndings.first(where: word.hasSuffix), word != ending {
      let stem = word.dropLast(ending.count).filter { $0 != "-" }
      return phoneWords.contains(stem)
        ? .phone : otherWords.contains(stem) || otherStems.contains(stem) ? .other : nil
    }
    guard word.utf8.last ?? 0 >= 0x80 else { return nil }
    return phoneEndings.contains { word.hasSuffix($0) } ? .phone : nil
  }

  private static let phoneWords = Set(
    words: """
      tel tél tlf tfno tlfn telephone téléphone telefon telefono teléfono telefone telefoon \
      phone phones mobile mobil móvil movil mob mobiltelefon cell cellphone celular \
      cellulare cel portable handy gsm fax telefax faks call called calling callback ring rang \
      dial sms whatsapp viber anrufen ruf rückruf appelez appeler llame llamar llámame ligue \
      chiamare chiama bel ring puhelin puh telefonszám hotline teléfonos telefoni тел телефон телефона телефону моб \
      мобильный сотовый факс звоните позвоните τηλ τηλέφωνο τηλεφωνο κινητό κινητο טלפון נייד هاتف الهاتف جوال الجوال \
      موبايل تلفن موبایل फोन मोबाइल โทร điện thoại đt sđt telepon hp cep telefonu telefón telefona mobilní tālr tālrunis \
      ტელ հեռ msisdn caller callerid
      """)

  /// Words of languages that are written without spaces.
  private static let phoneEndings = Set(
    words: "電話 电话 電話番号 手机 手機 手机号 手机号码 手機號碼 携帯 携帯電話 전화 전화번호 휴대폰 휴대전화 핸드폰 연락처 โทร โทรศัพท์ มือถือ เบอร์")

  /// Endings of words for numbers: `Handynummer`, `Bestellnr`.
  private static let numberEndings = ["nummer", "nr"]

  /// The beginnings of such words that alone say nothing about a number.
  private static let otherStems = Set(
    words: """
      bestell rechnungs kunden auftrags vertrags serien steuer konto mitglieds vorgangs referenz klant bestel factuur \
      rekening ondernemings kund kunde faktura ordre person organisations organisasjons org
      """)

  /// Words that may stand between a word for another number and the number.
  private static let betweenWords = Set(
    words: """
      no nr nos num number numbers nummer nº n numero número numéro номер № is was code id reg \
      registration standard std the a ist lautet est es
      """)

  private static let otherWords = Set(
    words: """
      order orders invoice isbn issn doi id ids uid uuid ref reference version ver build sku ticket issue case \
      account serial tracking parcel shipment batch lot part item article product ean upc gtin asin policy \
      contract bestellung rechnung auftrag artikel commande facture pedido factura ordine fattura order_id timestamp \
      epoch unix pid row page pages pp seite seiten vol volume price total amount sum eur usd gbp chf lat lon lng \
      latitude longitude sha md hash \
      commit transaction txn receipt booking imei iccid vat ssn zip sequence offset size bytes count hex \
      siret siren tva iva mwst ust gst hst partita piva regon krs nip kvk cvr \
      ičo dič инн кпп огрн снилс бик αφμ abn acn arbn \
      oid key token code pin ieee ansi clause section dfars pmid arxiv patent rfc iso din model population ts \
      pesel cpf cnpj tfn bsn dni nif cpr nhs ird routing bankgiro plusgiro blz bankleitzahl kto konto compte cuenta \
      conto conta rekening rachunek
      """)
}
