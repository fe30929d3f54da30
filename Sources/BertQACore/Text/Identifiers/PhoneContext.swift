/// What the words before a number say about it: the nearest known word on the same line.
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

  /// The number of bytes before a number that are searched for words.
  private static let reach = 64
  private static let mostWords = 6

  init(_ text: TextBytes, before start: Int) {
    var position = start
    let low = max(0, start - Self.reach)
    var meaning: Meaning?
    var word: Range<Int>?
    for _ in 0..<Self.mostWords where meaning == nil {
      while position > low, !Self.isWordByte(text[position - 1]), text[position - 1] != UInt8(ascii: "\n") {
        if text[position - 1] == UInt8(ascii: "#"), position == start || text.isDigit(position) {
          meaning = .other
        }
        position -= 1
      }
      let end = position
      while position > low, Self.isWordByte(text[position - 1]) { position -= 1 }
      guard position < end, meaning == nil else { break }
      meaning = Self.meaning(of: text.bytes[position..<end])
      if meaning != nil { word = position..<end }
    }
    self.meaning = meaning
    self.word = word
  }

  private static func isWordByte(_ byte: UInt8) -> Bool { TextBytes.isLetter(byte) || byte >= 0x80 }

  private static func meaning(of word: Slice<UnsafeBufferPointer<UInt8>>) -> Meaning? {
    let key = hash(word)
    if phoneKeys.contains(key) { return .phone }
    if otherKeys.contains(key) { return .other }
    guard word.last ?? 0 >= 0x80 else { return nil }
    // Scripts without spaces between words.
    return phoneEndings.contains { word.count >= $0.count && word.suffix($0.count).elementsEqual($0) }
      ? .phone : nil
  }

  /// FNV-1a of the letters in lower case.
  private static func hash(_ word: some Sequence<UInt8>) -> UInt64 {
    word.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
      (hash ^ UInt64(TextBytes.isLetter(byte) ? byte | 0x20 : byte)) &* 0x100_0000_01B3
    }
  }

  private static let phoneKeys = keys(phoneWords)
  private static let otherKeys = keys(otherWords)

  @inline(never)
  private static func keys(_ words: String) -> Set<UInt64> {
    Set(words.split(separator: " ").map { hash($0.utf8) })
  }

  private static let phoneWords = """
    tel tél tlf tfno tlfn telephone téléphone telefon telefono teléfono telefone telefoon telefonnummer \
    telefonnr phone phones mobile mobil móvil movil mob mobiltelefon mobilnummer cell cellphone celular \
    cellulare cel portable handy handynummer gsm fax telefax faks call called calling callback ring rang \
    dial sms whatsapp viber rufnummer anrufen ruf rückruf appelez appeler llame llamar llámame ligue \
    chiamare chiama bel ring puhelin puh telefonszám hotline teléfonos telefoni тел телефон моб факс звоните \
    τηλ τηλέφωνο טלפון هاتف تلفن फोन โทร điện thoại telepon hp msisdn caller callerid
    """

  /// Words of languages that are written without spaces.
  private static let phoneEndings = ["電話", "电话", "電話番号", "手机", "手機", "전화", "전화번호", "โทร", "โทรศัพท์"]
    .map { Array($0.utf8) }

  private static let otherWords = """
    order orders invoice isbn issn doi id ids uid uuid ref reference version ver build sku ticket issue case \
    account serial tracking parcel shipment batch lot part item article product ean upc gtin asin policy \
    contract bestellung bestellnummer rechnung rechnungsnummer kundennummer auftrag auftragsnummer artikel \
    commande facture pedido factura ordine fattura order_id timestamp epoch unix date time pid port line row \
    page pages price total amount sum eur usd gbp chf lat lon lng latitude longitude sha md hash commit \
    transaction txn receipt booking imei iccid vat ssn zip sequence offset size bytes count number_of hex \
    oid key token code pin ieee ansi clause section dfars nummer pmid arxiv patent rfc iso din model population ts
    """
}
