/* Implements bertqa_answer, bertqa_answers and the aggregate bertqa_answer_all. */
#include "bertqa_pg.h"

#include <funcapi.h>

static bertqa_answers *find_answers(bertqa_text question, bertqa_text text, int32_t k) {
  const bertqa_context *context = session_model(BERTQA_TASK_ANSWER);
  bertqa_answer_options options = {
      .struct_size = sizeof options, .call = &interruptible, .top_k = k};
  bertqa_answers *answers;
  check_status(bertqa_answer(context, question.text, question.length, text.text, text.length,
                             &options, &answers));
  return answers;
}

static Datum part(bertqa_text text, bertqa_range range) {
  return server_text(text.text + range.start, range.end - range.start);
}

PG_FUNCTION_INFO_V1(bertqa_pg_answer);
Datum bertqa_pg_answer(PG_FUNCTION_ARGS) {
  bertqa_text question = utf8_argument(fcinfo, 0), text = utf8_argument(fcinfo, 1);
  bertqa_answers *answers = find_answers(question, text, 1);
  bool is_found = bertqa_answers_count(answers) > 0;
  bertqa_range range = {0, 0};
  if (is_found) range = bertqa_answers_get(answers, 0)->bytes;
  bertqa_answers_free(answers);
  if (!is_found) PG_RETURN_NULL();
  PG_RETURN_DATUM(part(text, range));
}

static void put_answers(ReturnSetInfo *result, const bertqa_answers *answers, bertqa_text text) {
  const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
  for (size_t rank = 0; rank < bertqa_answers_count(answers); rank++) {
    const bertqa_answer_span *span = bertqa_answers_get(answers, rank);
    Datum row[] = {
        part(text, span->bytes),
        Float4GetDatum(span->score),
        Float4GetDatum(span->probability),
        Float4GetDatum(span->gap),
        Int64GetDatum((int64)span->bytes.start),
        Int64GetDatum((int64)span->bytes.end),
        Int64GetDatum((int64)span->code_points.start),
        Int64GetDatum((int64)span->code_points.end),
        part(text, span->sentence),
        BoolGetDatum(summary->is_impossible != 0),
        Float4GetDatum(summary->no_answer_probability),
    };
    bool nulls[lengthof(row)] = {false};
    tuplestore_putvalues(result->setResult, result->setDesc, row, nulls);
  }
}

PG_FUNCTION_INFO_V1(bertqa_pg_answers);
Datum bertqa_pg_answers(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  bertqa_text question = utf8_argument(fcinfo, 0), text = utf8_argument(fcinfo, 1);
  int32 k = PG_GETARG_INT32(2);
  if (k < 1 || k > 1000) {
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("bertqa_answers(question, text, k): k is 1 to 1000"));
  }
  bertqa_answers *answers = find_answers(question, text, k);
  PG_TRY();
  { put_answers((ReturnSetInfo *)fcinfo->resultinfo, answers, text); }
  PG_FINALLY();
  { bertqa_answers_free(answers); }
  PG_END_TRY();
  PG_RETURN_NULL();
}

/* The texts of a group, in the memory of its aggregate. */
typedef struct collection {
  bertqa_text question;
  bertqa_text *texts;
  size_t count, room;
} collection;

PG_FUNCTION_INFO_V1(bertqa_pg_collect);
Datum bertqa_pg_collect(PG_FUNCTION_ARGS) {
  MemoryContext memory;
  if (!AggCheckCallContext(fcinfo, &memory)) {
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("bertqa_collect is called by bertqa_answer_all only"));
  }
  collection *all = PG_ARGISNULL(0) ? NULL : (collection *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    if (all == NULL) PG_RETURN_NULL();
    PG_RETURN_POINTER(all);
  }
  bertqa_text question = utf8_argument(fcinfo, 1), text = utf8_argument(fcinfo, 2);
  MemoryContext before = MemoryContextSwitchTo(memory);
  if (all == NULL) {
    all = palloc(sizeof *all);
    *all = (collection){.question = copied(question), .room = 16};
    all->texts = palloc(all->room * sizeof *all->texts);
  } else if (!is_same(question, all->question)) {
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("bertqa_answer_all(question, text): the question is the same in all rows of "
                   "a group"));
  }
  if (all->count == all->room) {
    all->room *= 2;
    all->texts = repalloc_huge(all->texts, all->room * sizeof *all->texts);
  }
  all->texts[all->count++] = copied(text);
  MemoryContextSwitchTo(before);
  PG_RETURN_POINTER(all);
}

PG_FUNCTION_INFO_V1(bertqa_pg_answer_all);
Datum bertqa_pg_answer_all(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const collection *all = (const collection *)PG_GETARG_POINTER(0);
  const bertqa_context *context = session_model(BERTQA_TASK_ANSWER);
  bertqa_answer_options options = {.struct_size = sizeof options, .call = &interruptible};
  bertqa_answers *answers;
  check_status(bertqa_answer_documents(context, all->question.text, all->question.length,
                                       all->texts, all->count, &options, &answers));
  const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
  const bool is_found = best != NULL;
  bertqa_range range = {0, 0};
  bertqa_text text = {NULL, 0};
  if (is_found) {
    range = best->bytes;
    text = all->texts[best->document_index];
  }
  bertqa_answers_free(answers);
  if (!is_found) PG_RETURN_NULL();
  PG_RETURN_DATUM(part(text, range));
}
