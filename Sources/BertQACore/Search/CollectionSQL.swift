/// The tables of a collection, and the statements on them, for every program that opens one: docs/collections.md. The
/// numbers are those of the C ABI's `bertqa_collection_statement`, whose documentation lists parameters and columns.
package enum CollectionSQL: Int32, CaseIterable {
  case create = 0
  case model = 1
  case words = 2
  case allowed = 3
  case vectors = 4
  case passage = 5
  case setModel = 6
  case addDocument = 7
  case addPassage = 8
  case addWords = 9
  case addVectors = 10
  case removeDocument = 11
  case check = 12

  /// "BQAC" in ASCII: `PRAGMA application_id` of a collection.
  package static let applicationID = 0x4251_4143
  /// `PRAGMA user_version`: the version of the tables.
  package static let version = 1

  package var text: StaticString {
    switch self {
    case .create: Self.tables
    case .model: "SELECT fingerprint, length, name FROM model"
    // The query's words are quoted and joined by OR: with commas, they are JSON.
    case .words:
      """
      SELECT w.rowid, q.key, CASE WHEN ?2 THEN -w.rank END FROM json_each('[' || replace(?1, '" OR "', '","') || ']') q
        JOIN words w ON w.words MATCH '"' || q.value || '"'
      """
    // Runs of ids: if another program wrote meanwhile, its passages are between those of a long document.
    // A field that a document lacks matches nothing. Texts and numbers are patterns. GLOB cannot compare null, lists and
    // objects, which have no atom, and would take true for 1.
    case .allowed:
      """
      SELECT min(id), max(id) FROM (
        SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM passages WHERE document IN (
          SELECT d.id FROM documents d LEFT JOIN files f ON f.id = d.file
          WHERE (?1 IS NULL OR coalesce(f.path, d.name) GLOB ?1)
            AND NOT EXISTS (SELECT 1 FROM json_each(?2) w WHERE NOT EXISTS (
              SELECT 1 FROM json_each(d.fields) v WHERE v.key = w.key
                AND CASE WHEN w.type IN ('text', 'integer', 'real') THEN v.atom GLOB w.atom
                ELSE v.type = w.type AND v.value IS w.value END))))
      GROUP BY run ORDER BY 1
      """
    case .vectors: "SELECT first, count, rows, scales FROM vectors ORDER BY first"
    case .passage:
      """
      SELECT p.text, p.start, p.end, p.line, f.path, d.name, d.title, d.fields
      FROM passages p JOIN documents d ON d.id = p.document LEFT JOIN files f ON f.id = d.file WHERE p.id = ?1
      """
    case .setModel: "INSERT OR REPLACE INTO model(id, name, length, fingerprint) VALUES (1, ?1, ?2, ?3)"
    case .addDocument: "INSERT INTO documents(file, name, title, fields) VALUES (?1, ?2, ?3, ?4)"
    case .addPassage: "INSERT INTO passages(document, start, end, line, text) VALUES (?1, ?2, ?3, ?4, ?5)"
    case .addWords:
      "INSERT INTO words(rowid, title, text) SELECT id, title, text FROM texts WHERE id BETWEEN ?1 AND ?2"
    case .addVectors: "INSERT INTO vectors(first, count, rows, scales) VALUES (?1, ?2, ?3, ?4)"
    case .removeDocument: "DELETE FROM documents WHERE file IS NULL AND name = ?1"
    // SQLite keeps the text of each statement that creates something. FTS5 creates tables words_...
    case .check:
      """
      SELECT count(*) = (length(?1) - length(replace(?1, 'CREATE ', ''))) / 7 AND NOT EXISTS (
        SELECT 1 FROM sqlite_master
        WHERE NOT instr(?1, sql || ';') AND (type = 'trigger' OR type = 'view' AND name LIKE 'words%'))
      FROM sqlite_master WHERE instr(?1, sql || ';')
      """
    }
  }

  /// Triggers keep the words and the vectors in step with the passages, whichever program deletes a document or file.
  /// A block of vectors that loses passages is split: the part before them stays, the part after becomes a block. One
  /// statement changes the words of many passages: FTS5 writes a segment of its index at the end of each.
  private static let tables: StaticString = """
    PRAGMA application_id = 1112621379;
    PRAGMA user_version = 1;
    CREATE TABLE files(
      id INTEGER PRIMARY KEY,
      path TEXT NOT NULL UNIQUE,
      modified INTEGER NOT NULL,
      size INTEGER NOT NULL,
      settings INTEGER,
      hash INTEGER,
      problems INTEGER
    );
    CREATE TABLE documents(
      id INTEGER PRIMARY KEY,
      file INTEGER REFERENCES files(id),
      name TEXT,
      title TEXT,
      fields TEXT
    );
    CREATE INDEX documents_of_file ON documents(file);
    CREATE UNIQUE INDEX documents_by_name ON documents(name) WHERE file IS NULL;
    CREATE TABLE passages(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      document INTEGER NOT NULL REFERENCES documents(id),
      start INTEGER NOT NULL,
      end INTEGER NOT NULL,
      line INTEGER,
      text TEXT NOT NULL
    );
    CREATE INDEX passages_of_document ON passages(document);
    CREATE TABLE vectors(
      first INTEGER PRIMARY KEY,
      count INTEGER NOT NULL,
      rows BLOB NOT NULL,
      scales BLOB NOT NULL
    );
    CREATE TABLE model(
      id INTEGER PRIMARY KEY CHECK (id = 1),
      name TEXT NOT NULL,
      length INTEGER NOT NULL,
      fingerprint BLOB NOT NULL
    );
    CREATE VIEW texts(id, title, text) AS
      SELECT p.id, d.title, p.text FROM passages p JOIN documents d ON d.id = p.document;
    CREATE VIRTUAL TABLE words USING fts5(
      title, text, content='texts', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
    );
    CREATE VIEW cuts(first, last) AS SELECT 0, 0;
    CREATE TRIGGER cut_vectors INSTEAD OF INSERT ON cuts BEGIN
      INSERT INTO vectors
        SELECT new.last + 1, first + count - new.last - 1,
          substr(rows, (new.last + 1 - first) * (length(rows) / count) + 1),
          substr(scales, (new.last + 1 - first) * 4 + 1)
        FROM vectors
        WHERE first = (SELECT max(first) FROM vectors WHERE first <= new.last) AND first + count > new.last + 1;
      DELETE FROM vectors WHERE first BETWEEN new.first AND new.last;
      UPDATE vectors
        SET count = new.first - first, rows = substr(rows, 1, (new.first - first) * (length(rows) / count)),
          scales = substr(scales, 1, (new.first - first) * 4)
        WHERE first = (SELECT max(first) FROM vectors WHERE first < new.first) AND first + count > new.first;
    END;
    CREATE TRIGGER document_removed BEFORE DELETE ON documents BEGIN
      INSERT INTO cuts SELECT min(id), max(id) FROM (
        SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM passages WHERE document = old.id) GROUP BY run;
      INSERT INTO words(words, rowid, title, text)
        SELECT 'delete', id, old.title, text FROM passages WHERE document = old.id;
      DELETE FROM passages WHERE document = old.id;
    END;
    CREATE TRIGGER file_removed BEFORE DELETE ON files BEGIN
      INSERT INTO cuts SELECT min(id), max(id) FROM (
        SELECT p.id, p.id - row_number() OVER (ORDER BY p.id) AS run FROM passages p
          JOIN documents d ON d.id = p.document WHERE d.file = old.id) GROUP BY run;
      DELETE FROM documents WHERE file = old.id;
    END;
    """
}
