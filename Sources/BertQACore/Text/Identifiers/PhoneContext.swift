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
  /// Fewer digits are not a number of their own.
  private static let fewestDigits = 6

  init(_ text: TextBytes, before start: Int) {
    var position = start
    let low = max(0, start - Self.reach)
    var meaning: Meaning?
    var word: Range<Int>?
    var digits = 0
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
      while case let size = text.letterSize(before: position, begin: low), size > 0 { position -= size }
      guard position < end, meaning == nil else { break }
      // The number between is the one that "order" names.
      if let found = text.part(of: position..<end, Self.meaning),
        found.1 == .phone || digits < Self.fewestDigits
      {
        word = found.0
        meaning = found.1
      }
    }
    self.meaning = meaning
    self.word = word
  }

  private static func meaning(of word: String) -> Meaning? {
    if phoneWords.contains(word) { return .phone }
    if otherWords.contains(word) { return .other }
    guard word.utf8.last ?? 0 >= 0x80 else { return nil }
    return phoneEndings.contains { word.hasSuffix($0) } ? .phone : nil
  }

  private static let phoneWords = Set(
    words: """
      tel tél tlf tfno tlfn telephone téléphone telefon telefono teléfono telefone telefoon telefonnummer \
      telefonnr phone phones mobile mobil móvil movil mob mobiltelefon mobilnummer cell cellphone celular \
      cellulare cel portable handy handynummer gsm fax telefax faks call called calling callback ring rang \
      dial sms whatsapp viber rufnummer anrufen ruf rückruf appelez appeler llame llamar llámame ligue \
      chiamare chiama bel ring puhelin puh telefonszám hotline teléfonos telefoni тел телефон телефона телефону моб \
      мобильный сотовый факс звоните позвоните τηλ τηλέφωνο τηλεφωνο κινητό κινητο טלפון נייד هاتف الهاتف جوال الجوال \
      موبايل تلفن موبایل फोन मोबाइल โทร điện thoại đt sđt telepon hp cep telefonu telefón telefona mobilní tālr tālrunis \
      ტელ հեռ msisdn caller callerid
      """)

  /// Words of languages that are written without spaces.
  private static let phoneEndings = Set(
    words: "電話 电话 電話番号 手机 手機 手机号 手机号码 手機號碼 携帯 携帯電話 전화 전화번호 휴대폰 휴대전화 핸드폰 연락처 โทร โทรศัพท์ มือถือ เบอร์")

  private static let otherWords = Set(
    words: """
      order orders invoice isbn issn doi id ids uid uuid ref reference version ver build sku ticket issue case \
      account serial tracking parcel shipment batch lot part item article product ean upc gtin asin policy \
      contract bestellung bestellnummer rechnung rechnungsnummer kundennummer auftrag auftragsnummer artikel \
      commande facture pedido factura ordine fattura order_id timestamp epoch unix date time pid line row \
      page pages price total amount sum eur usd gbp chf lat lon lng latitude longitude sha md hash commit \
      transaction txn receipt booking imei iccid vat ssn zip sequence offset size bytes count number_of hex \
      siret siren tva iva mwst ust gst hst steuernummer partita piva regon krs nip kvk ondernemingsnummer cvr \
      organisasjonsnummer orgnr ičo dič инн кпп огрн снилс бик αφμ abn acn arbn \
      oid key token code pin ieee ansi clause section dfars nummer pmid arxiv patent rfc iso din model population ts \
      nhs ird routing bankgiro plusgiro
      """)
}

/// Numbers of houses, which are often before a telephone number.
extension PhoneFinder {
  private static let longestHouseNumber = 4
  private static let mostStreetWords = 4
  private static let longestStreet = 48

  /// True if a group of digits is a number after a street's name: `Hauptstr. 5`, `Calle de la Luna 12`.
  func isHouseNumber(_ group: Range<Int>) -> Bool {
    guard group.count <= Self.longestHouseNumber, text.isDigit(group.lowerBound) else { return false }
    let low = max(0, group.lowerBound - Self.longestStreet)
    var position = group.lowerBound
    for _ in 0..<Self.mostStreetWords {
      while [0x20, 0x2C, 0x2D, 0x2E].contains(text[position - 1]), position > low { position -= 1 }
      let end = position
      while case let size = text.letterSize(before: position, begin: low), size > 0 { position -= size }
      if position == end { return false }
      let word = text.spelling(position..<end)
      if Self.streetWords.contains(word) || Self.streetEndings.contains(where: word.hasSuffix) { return true }
    }
    return false
  }

  private static let streetWords = Set(
    words: """
      street st road rd avenue ave lane drive boulevard blvd square place apt apartment suite unit flat floor rue bd quai \
      impasse chemin calle avenida avda av plaza paseo carrera rua praça travessa via viale piazza corso largo ulica ul \
      aleja al plac ulice náměstí utca út tér ул улица улице проспект пр переулок пер шоссе вул вулиця cadde caddesi cad \
      sokak sokağı sok strada οδός λεωφόρος
      """)

  /// Of words for streets in languages that write them as one word.
  private static let streetEndings = Set(
    words: """
      straße strasse str gasse weg platz allee ring damm ufer straat laan plein gracht kade gatan gata vägen gaten \
      veien gade vej katu tie kuja
      """)
}
