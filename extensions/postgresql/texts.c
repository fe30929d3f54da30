/* The functions of one text: labels, entities, personal data, vectors, tokens. */
#include "bertqa_pg.h"

#include <catalog/pg_type.h>
#include <funcapi.h>
#include <math.h>
#include <miscadmin.h>
#include <utils/array.h>

#include "../cosine.h"
#include "../labels.h"
#include "../replacement.h"

/* Raises an error for a text that says what is wrong. */
static void check_argument(const char *wrong) {
  if (wrong != NULL) ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", wrong));
}

static bertqa_classification *find_labels(FunctionCallInfo fcinfo) {
  bertqa_text text = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_CLASSIFY);
  bertqa_classify_options options = {.struct_size = sizeof options, .call = &interruptible};
  if (PG_NARGS() > 1) {
    name_list *labels = palloc(sizeof *labels);
    check_argument(set_labels(utf8_argument(fcinfo, 1), labels, &options));
  }
  bertqa_classification *classification;
  check_status(bertqa_classify(context, text.text, text.length, &options, &classification));
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
      label = model_text(best->label, best->label_length);
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
        model_text(label->label, label->label_length),
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
                         bertqa_text text) {
  for (size_t i = 0; i < bertqa_entity_list_count(entities); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(entities, i);
    Datum row[] = {
        server_text(text.text + entity->bytes.start, entity->bytes.end - entity->bytes.start),
        model_text(entity->label, entity->label_length),
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
                         bertqa_entity_list *entities, bertqa_text text) {
  check_status(status);
  PG_TRY();
  { put_entities((ReturnSetInfo *)fcinfo->resultinfo, entities, text); }
  PG_FINALLY();
  { bertqa_entity_list_free(entities); }
  PG_END_TRY();
  PG_RETURN_NULL();
}

/* The labels are in memory of the call. */
static void read_entity_labels(bertqa_text labels, bertqa_entities_options *options) {
  check_argument(set_entity_labels(labels, palloc(sizeof(threshold_list)), options));
}

PG_FUNCTION_INFO_V1(bertqa_pg_entities);
Datum bertqa_pg_entities(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text text = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_ENTITIES);
  bertqa_entities_options options = {.struct_size = sizeof options, .call = &interruptible};
  if (PG_NARGS() > 1) read_entity_labels(utf8_argument(fcinfo, 1), &options);
  bertqa_entity_list *entities;
  bertqa_status status = bertqa_entities(context, text.text, text.length, &options, &entities);
  return entity_rows(fcinfo, status, entities, text);
}

/* Returns names that commas separate, in memory of the call. */
static name_list *names_argument(FunctionCallInfo fcinfo, int index) {
  name_list *list = palloc(sizeof *list);
  check_argument(read_names(utf8_argument(fcinfo, index), list));
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
  check_status(bertqa_patterns_named(names.text, names.length, &options.patterns));
  return options;
}

PG_FUNCTION_INFO_V1(bertqa_pg_patterns);
Datum bertqa_pg_patterns(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text text = utf8_argument(fcinfo, 0);
  bertqa_patterns_options options = named_patterns(fcinfo, 1, 2);
  bertqa_entity_list *entities;
  bertqa_status status = bertqa_patterns(text.text, text.length, &options, &entities);
  return entity_rows(fcinfo, status, entities, text);
}

PG_FUNCTION_INFO_V1(bertqa_pg_redact);
Datum bertqa_pg_redact(PG_FUNCTION_ARGS) {
  bertqa_text text = utf8_argument(fcinfo, 0);
  bertqa_patterns_options patterns = named_patterns(fcinfo, 1, 4);
  const bertqa_text labels = utf8_argument(fcinfo, 5);
  bertqa_entities_options entities = {.struct_size = sizeof entities};
  if (labels.length > 0) read_entity_labels(labels, &entities);
  bertqa_redact_options options = {.struct_size = sizeof options, .call = &interruptible};
  check_argument(read_replacement(utf8_argument(fcinfo, 2), utf8_argument(fcinfo, 3), &options));
  const bertqa_context *model = labels.length > 0 ? session_model(BERTQA_TASK_ENTITIES) : NULL;
  bertqa_entity_list *found[2];
  size_t length;
  bertqa_status status =
      begin_redaction(text, &patterns, model, &entities, &options, found, &length);
  /* It returns NULL rather than raise an error, which would jump over the end. */
  char *output =
      status == BERTQA_OK ? palloc_extended(length + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM) : NULL;
  if (status != BERTQA_OK) {
    end_redaction(text, &options, found, NULL, 0);
    check_status(status);
  }
  status = end_redaction(text, &options, found, output, length);
  check_status(status);
  if (output == NULL) ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"));
  PG_RETURN_DATUM(server_text(output, length));
}

/* The last vector of a call of a statement, and what it was computed from: a constant is embedded once. */
typedef struct last_vector {
  uint64 loaded_models; /* the counter then */
  bertqa_text texts[2];
  ArrayType *vector;
} last_vector;

static ArrayType *embed(const bertqa_context *context, const bertqa_text *texts, int count) {
  size_t length = bertqa_context_info(context)->embedding_length;
  float *vector = palloc(length * sizeof *vector);
  bertqa_embed_options options = {.struct_size = sizeof options,
                                  .call = &interruptible,
                                  .prompt_name = count > 1 ? &texts[1] : NULL};
  bertqa_text_pair pair = {texts[0].text, texts[0].length, NULL, 0};
  check_status(bertqa_embed(context, &pair, 1, &options, vector, length, NULL));
  Datum *elements = palloc(length * sizeof *elements);
  for (size_t i = 0; i < length; i++) elements[i] = Float4GetDatum(vector[i]);
  return construct_array(elements, (int)length, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT);
}

static ArrayType *copied_array(const ArrayType *array) {
  return memcpy(palloc(VARSIZE(array)), array, VARSIZE(array));
}

PG_FUNCTION_INFO_V1(bertqa_pg_embed);
Datum bertqa_pg_embed(PG_FUNCTION_ARGS) {
  bertqa_text texts[2] = {{NULL, 0}, {NULL, 0}};
  for (int i = 0; i < PG_NARGS(); i++) texts[i] = utf8_argument(fcinfo, i);
  const bertqa_context *context = session_model(BERTQA_TASK_EMBED);
  last_vector *last = fcinfo->flinfo->fn_extra;
  if (last != NULL && last->loaded_models == loaded_models && is_same(last->texts[0], texts[0]) &&
      is_same(last->texts[1], texts[1]))
    PG_RETURN_ARRAYTYPE_P(copied_array(last->vector));
  ArrayType *vector = embed(context, texts, PG_NARGS());
  if (last != NULL) {
    fcinfo->flinfo->fn_extra = NULL; /* an error could come before the next is complete */
    for (int i = 0; i < 2; i++) pfree((char *)last->texts[i].text);
    pfree(last->vector);
    pfree(last);
  }
  MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  last = palloc(sizeof *last);
  *last = (last_vector){.loaded_models = loaded_models,
                        .texts = {copied(texts[0]), copied(texts[1])},
                        .vector = copied_array(vector)};
  fcinfo->flinfo->fn_extra = last;
  MemoryContextSwitchTo(before);
  PG_RETURN_ARRAYTYPE_P(vector);
}

PG_FUNCTION_INFO_V1(bertqa_pg_cosine);
Datum bertqa_pg_cosine(PG_FUNCTION_ARGS) {
  ArrayType *vectors[2] = {PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1)};
  int lengths[2];
  for (int i = 0; i < 2; i++) {
    lengths[i] = ArrayGetNItems(ARR_NDIM(vectors[i]), ARR_DIMS(vectors[i]));
    if (array_contains_nulls(vectors[i]) || lengths[i] != lengths[0]) {
      ereport(ERROR, errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
              errmsg("bertqa_cosine compares two vectors of one length, without NULLs"),
              lengths[i] != lengths[0]
                  ? errdetail("The vectors have %d and %d numbers.", lengths[0], lengths[i])
                  : 0);
    }
  }
  double cosine =
      vector_cosine(ARR_DATA_PTR(vectors[0]), ARR_DATA_PTR(vectors[1]), (size_t)lengths[0]);
  if (isnan(cosine)) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(cosine);
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
    Datum text = model_text(piece, length);
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
  bertqa_text text = utf8_argument(fcinfo, 0);
  const bertqa_context *context = session_model(BERTQA_TASK_ANSWER);
  bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &interruptible};
  bertqa_tokens *tokens;
  check_status(bertqa_tokenize(context, text.text, text.length, &options, &tokens));
  PG_TRY();
  { put_tokens((ReturnSetInfo *)fcinfo->resultinfo, context, tokens); }
  PG_FINALLY();
  { bertqa_tokens_free(tokens); }
  PG_END_TRY();
  PG_RETURN_NULL();
}
