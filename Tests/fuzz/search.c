/* The passages of a text, and a search with ids, scores and vectors that are drawn. */
#include "fuzz.h"

enum { width = 16, rows = 8, most = 16 };

static int64_t number(input *in) {
  int64_t small = (int8_t)draw(in);
  return draw(in) < 8 ? INT64_MAX - (small < 0 ? -small : small) : small;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const bertqa_context *embedding, *answering;
  static char fingerprint[4 + width + 1];
  size_t known = 0;
  if (embedding == NULL) {
    embedding = fixture("tiny-bert-embedder", BERTQA_OFF);
    answering = fixture("tiny-bert", BERTQA_OFF);
  }
  REQUIRE(is_ok(bertqa_vectors_fingerprint(embedding, NULL, fingerprint, sizeof fingerprint, &known)));
  input in = {data, size};
  OPTIONS(answer, options);
  bertqa_call_options call;
  bertqa_call_options_init(&call, sizeof call);
  call.max_bytes = 1 << 28;
  options.call = &call;
  uint8_t kind = draw(&in);
  int8_t statement = (int8_t)draw(&in);
  const char *sql = bertqa_collection_sql(statement);
  REQUIRE((sql != NULL) == (statement >= 0 && statement <= BERTQA_COLLECTION_CHECK));
  input question = draw_bytes(&in, 256), text = draw_bytes(&in, 4096);

  bertqa_passages *passages;
  bertqa_text parts[most];
  size_t count = 0;
  if (is_ok(bertqa_passages_create(kind & 1 ? embedding : answering, chars(text), text.size, &call, &passages))) {
    const bertqa_range *ranges = bertqa_passages_ranges(passages);
    size_t last = 0;
    count = bertqa_passages_count(passages);
    REQUIRE((ranges != NULL) == (count > 0));
    for (size_t i = 0; i < count; i++) {
      REQUIRE(ranges[i].start >= last && ranges[i].start < ranges[i].end && ranges[i].end <= text.size);
      last = ranges[i].start + 1;
      if (i < most) parts[i] = (bertqa_text){chars(text) + ranges[i].start, ranges[i].end - ranges[i].start};
    }
    bertqa_passages_free(passages);
  } else {
    REQUIRE(passages == NULL);
  }

  bertqa_search *search;
  if (!is_ok(bertqa_search_create(kind & 2 ? embedding : NULL, chars(question), question.size, fingerprint, known,
                                  &call, &search))) {
    REQUIRE(search == NULL);
    return 0;
  }
  REQUIRE(bertqa_search_query(search) != NULL);
  for (size_t i = draw(&in) % 4; i > 0; i--) {
    int64_t first = number(&in);
    is_ok(bertqa_search_allow(search, first, first + (first < 1000 ? draw(&in) : 0)));
  }
  int64_t ids[most];
  int32_t words[most];
  double scores[most];
  size_t matches = draw(&in) % (most + 1);
  for (size_t i = 0; i < matches; i++) {
    ids[i] = number(&in);
    words[i] = kind & 4 ? (int32_t)number(&in) : draw(&in) % 3;
    scores[i] = (double)(int8_t)draw(&in) / 8;
  }
  is_ok(bertqa_search_set_words(search, ids, words, kind & 16 ? NULL : scores, matches));
  for (size_t i = draw(&in) % 3; i > 0; i--) {
    float vectors[rows * width], scales[rows];
    int8_t quantized[rows * width];
    for (size_t j = 0; j < rows * width; j++) {
      vectors[j] = (float)(int8_t)draw(&in) / 64;
      if (draw(&in) == 255) vectors[j] = kind & 8 ? INFINITY : 1e30f;
    }
    if (is_ok(bertqa_vectors_quantize(vectors, rows, width, quantized, scales)))
      is_ok(bertqa_search_add_vectors(search, number(&in), rows, quantized, sizeof quantized - (draw(&in) == 255),
                                      scales));
  }
  size_t best = bertqa_search_best(search, most, ids, scores);
  REQUIRE(best <= most);
  /* The vectors are not of length 1, so only scores by words have a bound. */
  for (size_t i = 0; i < best; i++) REQUIRE(scores[i] <= (i > 0 ? scores[i - 1] : kind & 2 ? HUGE_VAL : 1.0001));
  double cosine = (double)(int8_t)draw(&in) / 127, share = (double)draw(&in) / 255;
  REQUIRE(bertqa_search_score(cosine, share) <= 1.0001);
  bertqa_answers *answers;
  if (is_ok(bertqa_search_answer(search, answering, parts, count < best ? count : best, &options, &answers))) {
    require_answers(answers, text.size);
    bertqa_answers_free(answers);
  } else {
    REQUIRE(answers == NULL);
  }
  bertqa_search_free(search);
  return 0;
}
