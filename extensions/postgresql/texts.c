/* The functions of one text: labels, entities, personal data, vectors, tokens. */
#include "bertqa_pg.h"

#include <catalog/pg_type.h>
#include <funcapi.h>
#include <math.h>
#include <miscadmin.h>
#include <utils/array.h>

#include "../labels.h"
#include "../replacement.h"

static bertqa_classification *find_labels(FunctionCallInfo fcinfo) {
  bertqa_text document = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_CLASSIFY);
  bertqa_classify_options options = {.struct_size = sizeof options, .call = &interruptible};
  if (PG_NARGS() > 1) {
    name_list *labels = palloc(sizeof *labels);
    const char *wrong = set_labels(utf8_argument(fcinfo, 1), labels, &options);
    if (wrong != NULL)
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong));
  }
  bertqa_classification *classification;
  bertqa_status status =
      bertqa_classify(context, document.text, document.length, &options, &classification);
  if (status != BERTQA_OK) raise_status(status);
  return classification;
}

PG_FUNCTION_INFO_V1(bertqa_pg_classify);
Datum bertqa_pg_classify(PG_FUNCTION_ARGS) {
  bertqa_classification *classification = find_labels(fcinfo);
  Datum label = 0;
  PG_TRY();
  {
    if (bertqa_classification_count(classification) > 0) {
      const bertqa_label_score *best = bertqa_classification_get(classification, 0);
      label = server_text(best->label, best->label_length);
    }
  }
  PG_FINALLY();
  { bertqa_classification_free(classification); }
  PG_END_TRY();
  if (label == 0) PG_RETURN_NULL();
  PG_RETURN_DATUM(label);
}

static void put_labels(ReturnSetInfo *result, const bertqa_classification *classification) {
  for (size_t rank = 0; rank < bertqa_classification_count(classification); rank++) {
    const bertqa_label_score *label = bertqa_classification_get(classification, rank);
    Datum row[] = {
        server_text(label->label, label->label_length),
        Float4GetDatum(label->probability),
        Float4GetDatum(label->logit),
        Int32GetDatum(label->id),
    };
    bool nulls[lengthof(row)] = {false, isnan(label->probability), false, false};
    tuplestore_putvalues(result->setResult, result->setDesc, row, nulls);
  }
}

PG_FUNCTION_INFO_V1(bertqa_pg_labels);
Datum bertqa_pg_labels(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_classification *classification = find_labels(fcinfo);
  PG_TRY();
  { put_labels((ReturnSetInfo *)fcinfo->resultinfo, classification); }
  PG_FINALLY();
  { bertqa_classification_free(classification); }
  PG_END_TRY();
  PG_RETURN_NULL();
}

static void put_entities(ReturnSetInfo *result, const bertqa_entity_list *entities,
                         bertqa_text document) {
  for (size_t i = 0; i < bertqa_entity_list_count(entities); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(entities, i);
    Datum row[] = {
        server_text(document.text + entity->bytes.start, entity->bytes.end - entity->bytes.start),
        server_text(entity->label, entity->label_length),
        Float4GetDatum(entity->score),
        Int64GetDatum((int64)entity->bytes.start),
        Int64GetDatum((int64)entity->bytes.end),
        Int64GetDatum((int64)entity->code_points.start),
        Int64GetDatum((int64)entity->code_points.end),
    };
    bool nulls[lengthof(row)] = {false};
    tuplestore_putvalues(result->setResult, result->setDesc, row, nulls);
    CHECK_FOR_INTERRUPTS();
  }
}

/* Frees the entities. */
static Datum entity_rows(FunctionCallInfo fcinfo, bertqa_status status,
                         bertqa_entity_list *entities, bertqa_text document) {
  if (status != BERTQA_OK) raise_status(status);
  PG_TRY();
  { put_entities((ReturnSetInfo *)fcinfo->resultinfo, entities, document); }
  PG_FINALLY();
  { bertqa_entity_list_free(entities); }
  PG_END_TRY();
  PG_RETURN_NULL();
}

/* The labels are in memory of the call. */
static void read_entity_labels(bertqa_text labels, bertqa_entities_options *options) {
  const char *wrong = set_entity_labels(labels, palloc(sizeof(threshold_list)), options);
  if (wrong != NULL) ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong));
}

PG_FUNCTION_INFO_V1(bertqa_pg_entities);
Datum bertqa_pg_entities(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text document = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_ENTITIES);
  bertqa_entities_options options = {.struct_size = sizeof options, .call = &interruptible};
  if (PG_NARGS() > 1) read_entity_labels(utf8_argument(fcinfo, 1), &options);
  bertqa_entity_list *entities;
  bertqa_status status =
      bertqa_entities(context, document.text, document.length, &options, &entities);
  return entity_rows(fcinfo, status, entities, document);
}

/* Returns names that commas separate, in memory of the call. */
static name_list *names_argument(FunctionCallInfo fcinfo, int index) {
  name_list *list = palloc(sizeof *list);
  const char *wrong = read_names(utf8_argument(fcinfo, index), list);
  if (wrong != NULL) ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong));
  return list;
}

/* index: of the kinds. region_index: of the regions. */
static bertqa_patterns_options named_patterns(FunctionCallInfo fcinfo, int index,
                                              int region_index) {
  bertqa_text names = utf8_argument(fcinfo, index);
  const name_list *regions = names_argument(fcinfo, region_index);
  bertqa_patterns_options options = {.struct_size = sizeof options,
                                     .call = &interruptible,
                                     .regions = regions->names,
                                     .region_count = regions->count};
  bertqa_status status = bertqa_patterns_named(names.text, names.length, &options.patterns);
  if (status != BERTQA_OK) raise_status(status);
  return options;
}

PG_FUNCTION_INFO_V1(bertqa_pg_patterns);
Datum bertqa_pg_patterns(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text document = utf8_argument(fcinfo, 0);
  bertqa_patterns_options options = named_patterns(fcinfo, 1, 2);
  bertqa_entity_list *entities;
  bertqa_status status = bertqa_patterns(document.text, document.length, &options, &entities);
  return entity_rows(fcinfo, status, entities, document);
}

PG_FUNCTION_INFO_V1(bertqa_pg_redact);
Datum bertqa_pg_redact(PG_FUNCTION_ARGS) {
  bertqa_text document = utf8_argument(fcinfo, 0);
  bertqa_patterns_options patterns = named_patterns(fcinfo, 1, 4);
  const bertqa_text labels = utf8_argument(fcinfo, 5);
  bertqa_entities_options entities = {.struct_size = sizeof entities};
  if (labels.length > 0) read_entity_labels(labels, &entities);
  bertqa_redact_options options = {.struct_size = sizeof options, .call = &interruptible};
  const char *wrong =
      read_replacement(utf8_argument(fcinfo, 2), utf8_argument(fcinfo, 3), &options);
  if (wrong != NULL) ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong));
  const bertqa_context *model = labels.length > 0 ? session_model(BERTQA_TASK_ENTITIES) : NULL;
  bertqa_entity_list *found[2];
  size_t length;
  bertqa_status status =
      begin_redaction(document, &patterns, model, &entities, &options, found, &length);
  /* It returns NULL rather than raise an error, which would jump over the end. */
  char *output =
      status == BERTQA_OK ? palloc_extended(length + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM) : NULL;
  if (status != BERTQA_OK) {
    end_redaction(document, &options, found, NULL, 0);
    raise_status(status);
  }
  status = end_redaction(document, &options, found, output, length);
  if (status != BERTQA_OK) raise_status(status);
  if (output == NULL) ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"));
  PG_RETURN_DATUM(server_text(output, length));
}

PG_FUNCTION_INFO_V1(bertqa_pg_embed);
Datum bertqa_pg_embed(PG_FUNCTION_ARGS) {
  bertqa_text document = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_EMBED);
  size_t length = bertqa_context_info(context)->embedding_length;
  float *vector = palloc(length * sizeof *vector);
  bertqa_text prompt_name;
  bertqa_embed_options options = {.struct_size = sizeof options, .call = &interruptible};
  if (PG_NARGS() > 1) {
    prompt_name = utf8_argument(fcinfo, 1);
    options.prompt_name = &prompt_name;
  }
  bertqa_text_pair pair = {document.text, document.length, NULL, 0};
  bertqa_status status = bertqa_embed(context, &pair, 1, &options, vector, length, NULL);
  if (status != BERTQA_OK) raise_status(status);
  Datum *elements = palloc(length * sizeof *elements);
  for (size_t i = 0; i < length; i++) elements[i] = Float4GetDatum(vector[i]);
  PG_RETURN_ARRAYTYPE_P(
      construct_array(elements, (int)length, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

PG_FUNCTION_INFO_V1(bertqa_pg_cosine);
Datum bertqa_pg_cosine(PG_FUNCTION_ARGS) {
  ArrayType *vectors[2] = {PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1)};
  int lengths[2];
  for (int i = 0; i < 2; i++) {
    lengths[i] = ArrayGetNItems(ARR_NDIM(vectors[i]), ARR_DIMS(vectors[i]));
    if (array_contains_nulls(vectors[i]) || lengths[i] != lengths[0]) {
      ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
              errmsg("bertqa_cosine compares two vectors of one length, without NULLs"));
    }
  }
  const float4 *a = (const float4 *)ARR_DATA_PTR(vectors[0]);
  const float4 *b = (const float4 *)ARR_DATA_PTR(vectors[1]);
  double product = 0, squares_a = 0, squares_b = 0;
  for (int i = 0; i < lengths[0]; i++) {
    product += (double)a[i] * b[i];
    squares_a += (double)a[i] * a[i];
    squares_b += (double)b[i] * b[i];
  }
  /* The root of the product, which of equal vectors is a square; two roots would be rounded twice. */
  const double cosine = product / sqrt(squares_a * squares_b);
  if (!isfinite(cosine)) PG_RETURN_NULL(); /* of zeros, infinities or NaN */
  PG_RETURN_FLOAT8(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
}

PG_FUNCTION_INFO_V1(bertqa_pg_search_score);
Datum bertqa_pg_search_score(PG_FUNCTION_ARGS) {
  PG_RETURN_FLOAT8(bertqa_search_score(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1)));
}

static void put_tokens(ReturnSetInfo *result, const bertqa_context *context,
                       const bertqa_tokens *tokens) {
  for (size_t i = 0; i < bertqa_tokens_count(tokens); i++) {
    int32_t id = bertqa_tokens_ids(tokens)[i];
    bertqa_range range = bertqa_tokens_ranges(tokens)[i];
    size_t length;
    const char *piece = bertqa_context_vocabulary_piece(context, id, &length);
    Datum text = server_text(piece, length);
    Datum row[] = {
        Int32GetDatum(id),
        text,
        Int64GetDatum((int64)range.start),
        Int64GetDatum((int64)range.end),
    };
    bool nulls[lengthof(row)] = {false};
    tuplestore_putvalues(result->setResult, result->setDesc, row, nulls);
    pfree(DatumGetPointer(text)); /* a long text has millions */
    CHECK_FOR_INTERRUPTS();
  }
}

PG_FUNCTION_INFO_V1(bertqa_pg_tokens);
Datum bertqa_pg_tokens(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text document = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_ANSWER);
  bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &interruptible};
  bertqa_tokens *tokens;
  bertqa_status status =
      bertqa_tokenize(context, document.text, document.length, &options, &tokens);
  if (status != BERTQA_OK) raise_status(status);
  PG_TRY();
  { put_tokens((ReturnSetInfo *)fcinfo->resultinfo, context, tokens); }
  PG_FINALLY();
  { bertqa_tokens_free(tokens); }
  PG_END_TRY();
  PG_RETURN_NULL();
}
