/* Texts along a sequence: predictions, generations, likelihoods. */
#include "sequence.h"
#include "structs.h"

static void test_predict(void) {
  bertqa_prediction *prediction = NULL;
  bertqa_sequence_state *state = NULL, *next = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, top(3), &prediction, &state));
  CHECK(bertqa_prediction_count(prediction) == 3 && !bertqa_prediction_is_unknown(prediction));
  CHECK(bertqa_prediction_get(prediction, 3) == NULL);
  const float *probabilities = bertqa_prediction_probabilities(prediction);
  double sum = 0;
  for (size_t i = 0; i < vocabulary; i++) sum += probabilities[i];
  CHECK(fabs(sum - 1) < 1e-6);
  float most = 1;
  for (size_t i = 0; i < 3; i++) {
    const bertqa_word *word = bertqa_prediction_get(prediction, i);
    CHECK(word->struct_size == sizeof *word && strlen(word->text) == word->length);
    CHECK(strcmp(word->text, bertqa_context_vocabulary_piece(context, word->id, NULL)) == 0);
    CHECK(fabsf(word->probability - probabilities[word->id]) < 1e-6f && word->probability <= most);
    CHECK(fabsf(expf(word->log_probability) - word->probability) < 1e-6f);
    most = word->probability;
  }
  bertqa_prediction_free(prediction);

  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "zyzzyva", 7, state, top(1000), &prediction, &next));
  CHECK(bertqa_prediction_is_unknown(prediction) != 0);
  CHECK(bertqa_prediction_count(prediction) == vocabulary);
  /* The caller wants no result, or only the state. */
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, NULL, NULL, NULL));
  bertqa_sequence_state *alone = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, NULL, NULL, &alone));
  CHECK(same_state(alone, state));
  bertqa_sequence_state_free(alone);
  bertqa_sequence_state_free(next);
  bertqa_prediction_free(prediction);

  for (int32_t top_k = -2; top_k < 0; top_k++) {
    next = (void *)&vocabulary;
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
                bertqa_sequence_predict(context, "O", 1, NULL, top(top_k), &prediction, &next));
    CHECK(next == NULL);
  }
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, prediction,
              bertqa_sequence_predict(other, "O", 1, state, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict(NULL, "O", 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict(context, NULL, 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, prediction,
              bertqa_sequence_predict(context, "O", SIZE_MAX, NULL, NULL, &prediction, NULL));
  bertqa_prediction_free(NULL);
  CHECK(bertqa_prediction_count(NULL) == 0 && bertqa_prediction_get(NULL, 0) == NULL);
  CHECK(bertqa_prediction_probabilities(NULL) == NULL && !bertqa_prediction_is_unknown(NULL));
  bertqa_sequence_state_free(state);
}

/* A text read at once, and its words one by one. */
static void test_predict_text(void) {
  static const char *words[] = {"O", "Romeo", ",", "night"};
  bertqa_sequence_state *state = NULL, *next = NULL, *read = NULL;
  bertqa_prediction *prediction = NULL, *at_once = NULL;
  for (int i = 0; i < 4; i++) {
    bertqa_prediction_free(prediction);
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, words[i], strlen(words[i]), state, top(3), &prediction, &next));
    bertqa_sequence_state_free(state);
    state = next;
  }
  static const char text[] = " O Romeo,\n\"night\"";
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, text, sizeof text - 1, NULL, top(3), &at_once, &read));
  CHECK(same_state(state, read) && bertqa_prediction_count(at_once) == 3 && !bertqa_prediction_is_unknown(at_once));
  CHECK(memcmp(bertqa_prediction_probabilities(prediction), bertqa_prediction_probabilities(at_once),
               vocabulary * sizeof(float)) == 0);
  bertqa_prediction_free(at_once);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(read);

  /* In two parts, the state alone; an empty text keeps the state. */
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O Romeo", 7, NULL, NULL, NULL, &next));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, ", night", 7, next, NULL, NULL, &read));
  CHECK(same_state(state, read));
  bertqa_sequence_state_free(read);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, NULL, 0, next, NULL, &prediction, &read));
  CHECK(same_state(next, read) && bertqa_prediction_count(prediction) == 1);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(read);
  bertqa_sequence_state_free(next);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O zyzzyva", 9, NULL, NULL, &prediction, NULL));
  CHECK(bertqa_prediction_is_unknown(prediction) != 0);
  bertqa_prediction_free(prediction);

  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict_text(context, " \n", 2, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, read,
              bertqa_sequence_predict_text(context, "", 0, NULL, NULL, NULL, &read));
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, read,
              bertqa_sequence_predict_text(other, "O", 1, state, NULL, NULL, &read));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict_text(NULL, "O", 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, prediction,
              bertqa_sequence_predict_text(context, "O", SIZE_MAX, NULL, NULL, &prediction, NULL));
  bertqa_sequence_state_free(state);
}

/* Counts the words and stops after `limit`. */
struct count {
  size_t seen, limit;
  char text[4096];
};

static int32_t count_word(void *user, const bertqa_word *word) {
  struct count *count = user;
  snprintf(count->text + strlen(count->text), sizeof count->text - strlen(count->text), "%s%s",
           count->seen ? " " : "", word->text);
  return ++count->seen == count->limit;
}

static void test_generate(void) {
  bertqa_generate_options options;
  bertqa_generation *generation = NULL, *rest = NULL;
  bertqa_generate_options_init(&options, sizeof options);
  options.temperature = 1.5f;
  options.max_words = 30;
  options.seed = 5;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  CHECK(bertqa_generation_unknown_count(generation) == 1);
  const size_t total = bertqa_generation_count(generation);
  size_t bytes;
  char whole[4096];
  snprintf(whole, sizeof whole, "%s", bertqa_generation_text(generation, &bytes));
  CHECK(bytes == strlen(whole) && total > 0 && bertqa_generation_get(generation, total) == NULL);
  CHECK(bertqa_generation_stop(generation) == (total == 30 ? BERTQA_STOP_LIMIT : BERTQA_STOP_END));
  bertqa_generation_free(generation);
  for (uint64_t seed = 5; seed <= 6; seed++) {
    options.seed = seed;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
    CHECK((strcmp(bertqa_generation_text(generation, NULL), whole) == 0) == (seed == 5));
    bertqa_generation_free(generation);
  }
  options.seed = 5;

  /* The callback sees the words, and stops. */
  struct count count = {0, 1, ""};
  options.on_word = count_word;
  options.on_word_user = &count;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  CHECK(bertqa_generation_stop(generation) == BERTQA_STOP_CALLBACK && bertqa_generation_count(generation) == 1);
  CHECK(strncmp(whole, count.text, strlen(count.text)) == 0);
  CHECK(strcmp(bertqa_generation_text(generation, NULL), count.text) == 0);
  bertqa_generation_free(generation);
  /* An empty prompt goes on from a state: the most probable word, then the others, are those of one call. */
  options.on_word = NULL;
  options.temperature = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  snprintf(whole, sizeof whole, "%s", bertqa_generation_text(generation, NULL));
  bertqa_generation_free(generation);
  options.temperature = 1.5f;
  options.top_k = 1; /* nothing else can be drawn */
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  CHECK(strcmp(bertqa_generation_text(generation, NULL), whole) == 0);
  bertqa_generation_free(generation);
  options.temperature = 0;
  options.top_k = 0;
  options.max_words = 1;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  bertqa_sequence_state *kept = bertqa_sequence_state_clone(bertqa_generation_state(generation));
  options.max_words = 29;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "", 0, kept, &options, &rest));
  char joined[4096];
  snprintf(joined, sizeof joined, "%s %s", bertqa_generation_text(generation, NULL), bertqa_generation_text(rest, NULL));
  CHECK(strcmp(joined, whole) == 0);
  bertqa_generation_free(generation);
  bertqa_generation_free(rest);
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, generation,
              bertqa_sequence_generate(other, "O", 1, kept, NULL, &generation));
  bertqa_sequence_state_free(kept);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, " ", 1, NULL, NULL, &generation));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, NULL, 0, NULL, NULL, &generation));
  options.top_p = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, "O", 1, NULL, &options, &generation));
  CHECK(strstr(bertqa_last_error(), "top_p") != NULL);
  bertqa_generation_free(NULL);
  CHECK(bertqa_generation_count(NULL) == 0 && bertqa_generation_get(NULL, 0) == NULL);
  CHECK(bertqa_generation_text(NULL, &bytes) == NULL && bytes == 0);
  CHECK(bertqa_generation_stop(NULL) == 0 && bertqa_generation_unknown_count(NULL) == 0);
  CHECK(bertqa_generation_state(NULL) == NULL);

  CHECK_STRUCT_SIZES(bertqa_generate_options, max_words, top_p, generation,
                     bertqa_sequence_generate(context, "O", 1, NULL, options, &generation),
                     bertqa_generation_free);
}

static void test_likelihood(void) {
  const bertqa_sequence_options complete = {.struct_size = sizeof complete, .include_end = BERTQA_ON};
  bertqa_sequence_score score;
  memset(&score, 0xaa, sizeof score);
  score.struct_size = sizeof score;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O zyzzyva Romeo", 15, NULL, &complete, &score));
  CHECK(score.word_count == 3 && score.unknown_count == 1 && score.log_likelihood < 0);
  CHECK(fabs(score.perplexity - exp(-score.log_likelihood / 3)) < 1e-9);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, NULL, 0, NULL, &complete, &score));
  CHECK(score.word_count == 0 && isnan(score.perplexity));

  /* Callers of other versions: no more is written than there is room. */
  struct {
    bertqa_sequence_score known;
    char added[16];
  } grown;
  score.struct_size = sizeof score;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O O", 3, NULL, NULL, &score));
  for (size_t size = sizeof(size_t); size <= sizeof grown; size += sizeof(size_t)) {
    score.struct_size = size;
    memset(&grown, 0xaa, sizeof grown);
    grown.known.struct_size = size;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O O", 3, NULL, NULL, &grown.known));
    CHECK(grown.known.struct_size == size);
    const unsigned char *bytes = (const unsigned char *)&grown;
    CHECK(memcmp(bytes, &score, size < sizeof score ? size : sizeof score) == 0);
    for (size_t i = sizeof score; i < size; i++) CHECK(bytes[i] == 0);
    for (size_t i = size; i < sizeof grown; i++) CHECK(bytes[i] == 0xaa);
  }
  const size_t wrong[] = {0, 7, 1 << 20, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    score.struct_size = wrong[i];
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(context, "O", 1, NULL, NULL, &score));
  }
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(context, "O", 1, NULL, NULL, NULL));
  score.struct_size = sizeof score;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(NULL, "O", 1, NULL, NULL, &score));
}

static void test_rank(void) {
  bertqa_text texts[4];
  memset(texts, 0, sizeof texts);
  texts[0].text = "Romeo Romeo Romeo", texts[0].length = 17;
  texts[2].text = "night .", texts[2].length = 7;
  texts[3].text = "night .", texts[3].length = 7;
  size_t order[4], counts[4];
  double sums[4];
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, order, sums, counts));
  CHECK(counts[0] == 3 && counts[1] == 0 && counts[2] == 2 && sums[1] == 0 && sums[2] == sums[3]);
  CHECK(order[3] == 1);
  for (int i = 0; i < 2; i++)
    CHECK(sums[order[i]] / (double)counts[order[i]] >= sums[order[i + 1]] / (double)counts[order[i + 1]]);
  for (int i = 0; i < 4; i++)
    if (order[i] == 3) CHECK(i > 0 && order[i - 1] == 2);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, NULL, NULL, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, NULL, 0, NULL, NULL, NULL, NULL, NULL));
  texts[2].text = NULL;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, order, sums, counts));
  CHECK(bertqa_last_error_item() == 2);
  CHECK(strstr(bertqa_last_error(), "continuations[2]") != NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_rank(context, "O", 1, NULL, 1, NULL, NULL, order, NULL, NULL));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_sequence_rank(context, "O", 1, texts, SIZE_MAX, NULL, NULL, order, NULL, NULL));
}

int main(int argc, char **argv) {
  begin_sequences(argc, argv);
  test_predict();
  test_predict_text();
  test_generate();
  test_likelihood();
  test_rank();
  return finish_sequences();
}
