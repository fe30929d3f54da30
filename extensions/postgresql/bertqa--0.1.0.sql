\echo Use "CREATE EXTENSION bertqa" to load this file. \quit

-- STABLE rather than IMMUTABLE: results depend on settings such as bertqa.answer_model.
-- COST is in units of a simple operator; a run of the model takes as long as some hundred thousand of them.
-- The planner then runs it last, on as few rows as possible, and in parallel if the table is large enough.

CREATE FUNCTION bertqa_answer(question text, text text) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_answer' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION bertqa_answer(text, text) IS
'the best answer to the question in the text; NULL if there is none';

CREATE FUNCTION bertqa_answers(
  question text, text text, k integer DEFAULT 1,
  OUT answer text, OUT score real, OUT probability real, OUT gap real,
  OUT start_byte bigint, OUT end_byte bigint, OUT start_char bigint, OUT end_char bigint,
  OUT sentence text, OUT is_impossible boolean, OUT no_answer_probability real
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_answers' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000 ROWS 1;

COMMENT ON FUNCTION bertqa_answers(text, text, integer) IS
'the k best answers in the text, best first, with score, probability and position';

CREATE FUNCTION bertqa_collect(internal, question text, text text) RETURNS internal
AS 'MODULE_PATHNAME', 'bertqa_pg_collect' LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION bertqa_answer_collected(internal) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_answer_all' LANGUAGE C STABLE PARALLEL SAFE COST 100000;

CREATE AGGREGATE bertqa_answer_all(question text, text text) (
  SFUNC = bertqa_collect, STYPE = internal, FINALFUNC = bertqa_answer_collected, PARALLEL = SAFE);

COMMENT ON AGGREGATE bertqa_answer_all(text, text) IS
'the best answer to the question over the texts of all rows, read as one collection; NULL if there is none';

CREATE FUNCTION bertqa_classify(text text) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_classify' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;

COMMENT ON FUNCTION bertqa_classify(text) IS
'the text''s most probable label; NULL if the text is too short for the model';

CREATE FUNCTION bertqa_classify(text text, labels text) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_classify' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION bertqa_classify(text, text) IS
'the text''s most probable label of these names, separated by commas, by a model of entailment';

CREATE FUNCTION bertqa_labels(
  text text, OUT label text, OUT probability real, OUT logit real, OUT id integer
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_labels' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000 ROWS 5;

COMMENT ON FUNCTION bertqa_labels(text) IS 'all labels of the model for the text, the most probable first';

CREATE FUNCTION bertqa_labels(
  text text, labels text, OUT label text, OUT probability real, OUT logit real, OUT id integer
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_labels' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000 ROWS 5;

COMMENT ON FUNCTION bertqa_labels(text, text) IS
'these names, separated by commas, as labels of the text by a model of entailment, the most probable first';

CREATE FUNCTION bertqa_entities(
  text text, OUT entity text, OUT label text, OUT score real,
  OUT start_byte bigint, OUT end_byte bigint, OUT start_char bigint, OUT end_char bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_entities' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION bertqa_entities(text) IS 'the names and other entities in the text, in text order';

CREATE FUNCTION bertqa_entities(
  text text, labels text, OUT entity text, OUT label text, OUT score real,
  OUT start_byte bigint, OUT end_byte bigint, OUT start_char bigint, OUT end_char bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_entities' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION bertqa_entities(text, text) IS
'the entities in the text with these labels, separated by commas, and a threshold for each, such as disease=0.7; in text order';

CREATE FUNCTION bertqa_patterns(
  text text, patterns text DEFAULT 'all', regions text DEFAULT '', OUT entity text, OUT label text, OUT score real,
  OUT start_byte bigint, OUT end_byte bigint, OUT start_char bigint, OUT end_char bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_patterns' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;

COMMENT ON FUNCTION bertqa_patterns(text, text, text) IS 'the personal data in the text, found by rule, in text order';

CREATE FUNCTION bertqa_redact(
  text text, patterns text DEFAULT 'all', action text DEFAULT 'label', value text DEFAULT '',
  regions text DEFAULT '', labels text DEFAULT ''
) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_redact' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION bertqa_redact(text, text, text, text, text, text) IS
'the text with the personal data in it, found by rule or with labels by a model, replaced by a label, text, mask, hash or pseudonym';

CREATE FUNCTION bertqa_embed(text text) RETURNS real[]
AS 'MODULE_PATHNAME', 'bertqa_pg_embed' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION bertqa_embed(text) IS 'the text''s vector';

CREATE FUNCTION bertqa_embed(text text, prompt_name text) RETURNS real[]
AS 'MODULE_PATHNAME', 'bertqa_pg_embed' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION bertqa_embed(text, text) IS
'the vector of the text behind the prompt of this name, such as query, in the model''s files';

CREATE FUNCTION bertqa_cosine(real[], real[]) RETURNS double precision
AS 'MODULE_PATHNAME', 'bertqa_pg_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION bertqa_cosine(real[], real[]) IS 'the cosine of two vectors, -1 to 1; NULL for zero and infinite vectors';

CREATE FUNCTION bertqa_search_score(cosine double precision, share double precision) RETURNS double precision
AS 'MODULE_PATHNAME', 'bertqa_pg_search_score' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bertqa_search_score(double precision, double precision) IS
'orders passages by the cosine of their vector and by the share of the question''s words that they have';

CREATE FUNCTION bertqa_tokens(
  text text, OUT id integer, OUT piece text, OUT start_byte bigint, OUT end_byte bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bertqa_pg_tokens' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;

COMMENT ON FUNCTION bertqa_tokens(text) IS 'the text''s tokens, as the answering model reads them';

CREATE FUNCTION bertqa_match(question text) RETURNS tsquery LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN replace(plainto_tsquery(question)::text, ' & ', ' | ')::tsquery;

CREATE FUNCTION bertqa_match(configuration regconfig, question text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN replace(plainto_tsquery(configuration, question)::text, ' & ', ' | ')::tsquery;

COMMENT ON FUNCTION bertqa_match(text) IS 'a text search for any of the question''s words';
COMMENT ON FUNCTION bertqa_match(regconfig, text) IS 'a text search for any of the question''s words';

-- The rows that rank best by words, ties included, and of the others those with the nearest vectors: an index serves each
-- of the two. The caller's search_path does not count: it could hold other operators of these names, and pg_restore
-- empties it. RESTRICTED: workers cannot read temporary tables. A row of a table is carried as its place and read at the
-- end, as a whole row would be read out of TOAST before it is sorted. Rows of views and foreign tables have no
-- place, and a role that may read columns but not the table cannot see it: they are carried whole.
CREATE FUNCTION bertqa_search(
  source anyelement, question text, k integer DEFAULT 10, configuration regconfig DEFAULT get_current_ts_config()
) RETURNS SETOF anyelement LANGUAGE plpgsql STABLE PARALLEL RESTRICTED COST 1000000 ROWS 10
SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
  relation regclass := (SELECT typrelid FROM pg_type WHERE oid = pg_typeof(source));
  words text[] := (
    SELECT array_agg(attname) FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND atttypid = 'tsvector'::regtype);
  vectors text[] := (
    SELECT array_agg(attname) FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
      AND split_part(format_type(atttypid, NULL), '.', -1) IN ('real[]', 'vector'));
  own regnamespace := (SELECT extnamespace FROM pg_extension WHERE extname = 'bertqa');
  kind text;
  kind_schema regnamespace;
  query tsquery;
  asked text[] := tsvector_to_array(to_tsvector(configuration, question));
  vector real[];
  cosine text;
  distance text;
  has_places boolean := has_table_privilege(relation, 'SELECT') AND (
    WITH RECURSIVE parts AS (
      SELECT relation::oid AS part UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = part)
    SELECT bool_and(relkind IN ('r', 'm', 'p')) FROM pg_class JOIN parts ON part = oid);
  carried text := CASE WHEN has_places THEN 'bertqa_row.tableoid AS part, bertqa_row.ctid AS place' ELSE 'bertqa_row' END;
BEGIN
  IF relation IS NULL OR coalesce(cardinality(words), 0) <> 1 OR coalesce(cardinality(vectors), 0) <> 1 THEN
    RAISE EXCEPTION 'bertqa_search needs a table or view with one column of type tsvector and one of type real[] or vector'
      USING ERRCODE = 'wrong_object_type', HINT = 'Pass it as NULL::name; a view can leave out columns and rows.';
  END IF;
  IF question IS NULL OR k IS NULL OR configuration IS NULL THEN
    RETURN;
  END IF;
  IF k NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'bertqa_search: k is 1 to 1000' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT format_type(atttypid, NULL), typnamespace INTO kind, kind_schema
  FROM pg_attribute JOIN pg_type AS t ON t.oid = atttypid WHERE attrelid = relation AND attname = vectors[1];
  IF kind = 'real[]' THEN
    cosine := format('%s.bertqa_cosine(bertqa_row.%I, $2)', own, vectors[1]);
    distance := '-' || cosine;
  ELSE
    distance := format('bertqa_row.%I OPERATOR(%s.<=>) $2::%s', vectors[1], kind_schema, kind);
    cosine := format('(1 - (%s))', distance);
  END IF;
  -- A vector of zeros has no cosine: NULL, or NaN from pgvector.
  cosine := format('coalesce(nullif(%s, ''NaN''), 0)', cosine);
  EXECUTE format('SELECT %1$s.bertqa_match($1, $2), %1$s.bertqa_embed($2, ''query'')', own)
  INTO query, vector USING configuration, question;
  RETURN QUERY EXECUTE format($query$
    WITH bertqa_found AS MATERIALIZED (
      SELECT %7$s, ts_rank(bertqa_row.%1$I, $1, 1) AS rank, %2$s AS cosine
      FROM %4$s AS bertqa_row WHERE bertqa_row.%1$I @@ $1
      ORDER BY rank DESC FETCH FIRST 200 ROWS WITH TIES),
    bertqa_near AS MATERIALIZED (
      SELECT %7$s, %2$s AS cosine FROM %4$s AS bertqa_row
      WHERE bertqa_row.%5$I IS NOT NULL
        AND (bertqa_row.%1$I @@ $1
          AND ts_rank(bertqa_row.%1$I, $1, 1) >= (SELECT min(rank) FROM bertqa_found)) IS NOT TRUE
      ORDER BY %3$s LIMIT 200)
    SELECT (bertqa_row).*
    FROM (SELECT %8$s, cosine FROM bertqa_found UNION ALL SELECT %8$s, cosine FROM bertqa_near) AS both_orders %9$s
    ORDER BY %6$s.bertqa_search_score(both_orders.cosine, coalesce(
      (SELECT count(*) FROM unnest($4) AS word WHERE word = ANY(tsvector_to_array((bertqa_row).%1$I)))
        / nullif(cardinality($4), 0)::double precision, 0)) DESC LIMIT $3
    $query$, words[1], cosine, distance, relation, vectors[1], own, carried,
    CASE WHEN has_places THEN 'part, place' ELSE 'bertqa_row' END,
    CASE WHEN has_places THEN format(
      'JOIN %s AS bertqa_row ON bertqa_row.ctid = both_orders.place AND bertqa_row.tableoid = both_orders.part', relation)
    END)
  USING query, vector, k, asked;
END
$function$;

COMMENT ON FUNCTION bertqa_search(anyelement, text, integer, regconfig) IS
'the k rows of a table that match the question best, by words (tsvector) and by vectors (real[] or pgvector)';

CREATE FUNCTION bertqa_model(task text, path text) RETURNS text
AS 'MODULE_PATHNAME', 'bertqa_pg_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION bertqa_model(text, text) IS
'has this session use the model at the path, for NULL the default one, for answer, classify, embed or entities';

-- It reads files of the server.
REVOKE ALL ON FUNCTION bertqa_model(text, text) FROM PUBLIC;
