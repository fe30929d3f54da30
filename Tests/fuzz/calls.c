/* Sequences of calls on shared contexts: each byte is a call, its arguments follow. With a first byte of
 * 128 or more the input is cut in three, one for each of three threads at once. */
#include <pthread.h>

#include "fuzz.h"

enum { kinds = 5, slots = 4 };
static bertqa_context *contexts[kinds];

static int32_t small(input *in) { return (int8_t)draw(in); }

static int32_t stop_after(void *user) { return --*(int32_t *)user < 0; }

static int32_t stop_word(void *user, const bertqa_word *word) {
  REQUIRE(word->text[word->length] == '\0');
  return stop_after(user);
}

static void play(input in) {
  bertqa_document *documents[slots] = {0};
  size_t lengths[slots] = {0};
  bertqa_sequence_state *states[slots] = {0};
  bertqa_labeler *labeler = NULL;
  bertqa_trainer *trainer = NULL;
  int32_t polls = 0;
  OPTIONS(call, call);
  call.user = &polls;
  call.max_bytes = 1 << 28;
  while (in.size > 0) {
    uint8_t code = draw(&in);
    const bertqa_context *context = contexts[draw(&in) % kinds];
    size_t slot = draw(&in) % slots;
    polls = draw(&in);
    call.cancel = polls & 1 ? stop_after : NULL;
    call.deadline_ns = (polls & 6) == 6 ? bertqa_deadline_after((uint64_t)polls * 1000) : 0;
    switch (code % 16) {
      case 0: {
        input text = draw_bytes(&in, 4096);
        bertqa_document_free(documents[slot]);
        OPTIONS(document, options);
        options.call = &call;
        is_ok(bertqa_document_create(context, chars(text), text.size, &options, &documents[slot]));
        lengths[slot] = text.size;
        break;
      }
      case 1:
      case 2: {
        input question = draw_bytes(&in, 256), text = draw_bytes(&in, 4096);
        OPTIONS(answer, options);
        options.call = &call;
        if (draw(&in) & 1) {
          options.top_k = small(&in);
          options.max_seq_len = small(&in);
          options.doc_stride = small(&in);
          options.max_answer_len = small(&in);
          options.max_question_len = small(&in);
          options.n_best_size = small(&in);
          options.max_windows = small(&in);
          options.handle_impossible_answer = small(&in);
          options.align_to_words = small(&in) % 2;
        }
        bertqa_answers *answers;
        int is_prepared = code % 16 == 2 && documents[slot] != NULL;
        const bertqa_text texts[] = {{chars(text), text.size}, {chars(question), question.size}};
        const bertqa_document *twice[] = {documents[slot], documents[slot]};
        bertqa_status status =
            is_prepared && code >= 128
                ? bertqa_documents_answer(context, twice, 2, chars(question), question.size, &options, &answers)
            : is_prepared ? bertqa_document_answer(context, documents[slot], chars(question), question.size,
                                                 &options, &answers)
            : code >= 128
                ? bertqa_answer_documents(context, chars(question), question.size, texts, 2, &options, &answers)
                : bertqa_answer(context, chars(question), question.size, chars(text), text.size, &options,
                                &answers);
        if (is_ok(status)) {
          size_t longest = text.size > question.size ? text.size : question.size;
          require_answers(answers, is_prepared ? lengths[slot] : code >= 128 ? longest : text.size);
          bertqa_answers_free(answers);
        } else {
          REQUIRE(answers == NULL);
        }
        break;
      }
      case 3: {
        input text = draw_bytes(&in, 4096), second = draw_bytes(&in, 4096);
        bertqa_text_pair pairs[3] = {{chars(text), text.size, NULL, 0},
                                     {chars(text), text.size, chars(second), second.size},
                                     {chars(second), second.size, NULL, 0}};
        bertqa_classification *results[3];
        bertqa_status statuses[3];
        OPTIONS(classify, options);
        options.call = &call;
        options.max_seq_len = small(&in);
        options.doc_stride = small(&in);
        options.contributions = small(&in);
        int has_statuses = draw(&in) & 1;
        const bertqa_text labels[] = {{chars(second), second.size % 16}, {"other", 5}};
        if (code >= 128) {
          options.labels = labels;
          options.label_count = draw(&in) % 3;
          options.hypothesis_template = labels + (options.label_count == 2);
          options.multi_label = small(&in) % 2;
        }
        is_ok(bertqa_classify_batch(context, pairs, 3, &options, results, has_statuses ? statuses : NULL));
        for (int i = 0; i < 3; i++) {
          require_classification(results[i], text.size > second.size ? text.size : second.size);
          bertqa_classification_free(results[i]);
        }
        OPTIONS(word_counts, counting);
        counting.call = &call;
        counting.min_word_length = options.contributions;
        counting.max_ngram = 1 + has_statuses;
        bertqa_word_count_list *words;
        if (is_ok(bertqa_word_counts(chars(text), text.size, &counting, &words))) {
          for (size_t i = 0; i < bertqa_word_count_list_count(words); i++) {
            const bertqa_word_count *word = bertqa_word_count_list_get(words, i);
            REQUIRE(word->count > 0 && word->length > 0 && strlen(word->text) == word->length);
          }
        } else {
          REQUIRE(words == NULL);
        }
        bertqa_word_count_list_free(words);
        break;
      }
      case 4: {
        input text = draw_bytes(&in, 4096);
        bertqa_text_pair pair = {chars(text), text.size, NULL, 0};
        size_t length = bertqa_context_info(context)->embedding_length;
        float *vector = malloc((length + 1) * sizeof *vector);
        OPTIONS(embed, options);
        options.call = &call;
        options.pooling = small(&in) % 4;
        options.max_seq_len = small(&in);
        options.truncate = small(&in) % 2;
        const bertqa_text prompt = {"the ", 4};
        if (code >= 128) {
          options.prompt = &prompt;
          bertqa_token_vectors *vectors;
          if (is_ok(bertqa_embed_tokens(context, &pair, 1, &options, &vectors, NULL))) {
            require_token_vectors(context, vectors);
            bertqa_token_vectors_free(vectors);
          } else {
            REQUIRE(vectors == NULL);
          }
        }
        is_ok(bertqa_embed(context, &pair, 1, &options, vector, length + (draw(&in) == 255), NULL));
        free(vector);
        break;
      }
      case 5: {
        input word = draw_bytes(&in, 64);
        bertqa_prediction *prediction = NULL;
        bertqa_sequence_state *next = NULL;
        OPTIONS(sequence, options);
        options.call = &call;
        options.top_k = small(&in);
        if (is_ok(bertqa_sequence_predict(context, chars(word), word.size, states[slot], &options, &prediction,
                                          &next))) {
          bertqa_sequence_state_free(states[slot]);
          states[slot] = next;
          size_t count = bertqa_prediction_count(prediction);
          const float *probabilities = bertqa_prediction_probabilities(prediction);
          for (size_t i = 0; i < count; i++) {
            const bertqa_word *word = bertqa_prediction_get(prediction, i);
            REQUIRE(strlen(word->text) == word->length);
            REQUIRE(fabsf(word->probability - probabilities[word->id]) < 1e-4f);
          }
          REQUIRE(count > 0 && bertqa_prediction_get(prediction, count) == NULL);
          REQUIRE((bertqa_prediction_is_unknown(prediction) | 1) == 1);
          bertqa_prediction_free(prediction);
        } else {
          REQUIRE(prediction == NULL && next == NULL);
        }
        break;
      }
      case 6: {
        input prompt = draw_bytes(&in, 256);
        OPTIONS(generate, options);
        options.call = &call;
        options.max_words = small(&in);
        options.top_k = small(&in);
        options.temperature = (float)small(&in) / 16;
        options.top_p = (float)small(&in) / 64;
        int32_t words = draw(&in);
        options.on_word = words & 1 ? stop_word : NULL;
        options.on_word_user = &words;
        bertqa_generation *generation;
        if (is_ok(bertqa_sequence_generate(context, chars(prompt), prompt.size, states[slot], &options,
                                           &generation))) {
          bertqa_sequence_state_free(states[slot]);
          states[slot] = bertqa_sequence_state_clone(bertqa_generation_state(generation));
          size_t count = bertqa_generation_count(generation), length;
          const char *words = bertqa_generation_text(generation, &length);
          require_words(words, length);
          for (size_t i = 0; i < count; i++)
            REQUIRE(*bertqa_generation_get(generation, i)->text != '\0');
          REQUIRE(bertqa_generation_get(generation, count) == NULL);
          bertqa_stop stop = bertqa_generation_stop(generation);
          REQUIRE(stop >= BERTQA_STOP_END && stop <= BERTQA_STOP_CALLBACK);
          REQUIRE(bertqa_generation_unknown_count(generation) <= prompt.size);
          bertqa_generation_free(generation);
        }
        break;
      }
      case 7: {
        input text = draw_bytes(&in, 256), more = draw_bytes(&in, 256);
        bertqa_text texts[2] = {{chars(text), text.size}, {chars(more), more.size}};
        size_t order[2], counts[2];
        double likelihoods[2];
        OPTIONS(sequence, options);
        options.call = &call;
        options.include_end = small(&in) % 2;
        is_ok(bertqa_sequence_rank(context, chars(more), more.size, texts, 2, states[slot], &options, order,
                                   likelihoods, counts));
        bertqa_sequence_state *next;
        is_ok(bertqa_sequence_predict_text(context, chars(text), text.size, states[slot], &options, NULL, &next));
        bertqa_sequence_state_free(next);
        break;
      }
      case 8: {
        int32_t ids[2] = {small(&in), small(&in)};
        const bertqa_sequence_state *from[2] = {states[slot], NULL};
        bertqa_sequence_state *next[2];
        if (is_ok(bertqa_sequence_step(context, ids, draw(&in) & 1 ? from : NULL, 2, NULL, next, NULL, 0))) {
          bertqa_sequence_state_free(next[1]);
          bertqa_sequence_state_free(states[slot]);
          states[slot] = next[0];
          float values[256];
          size_t length = bertqa_context_sequence_info(context)->state_length;
          REQUIRE(length <= 256);
          is_ok(bertqa_sequence_state_export(states[slot], values, length + (draw(&in) == 255)));
        } else {
          REQUIRE(next[0] == NULL && next[1] == NULL);
        }
        break;
      }
      case 9: {
        input text = draw_bytes(&in, 1024), label = draw_bytes(&in, 64);
        bertqa_example examples[2] = {{chars(text), text.size, chars(label), label.size},
                                      {chars(label), label.size, "a", 1}};
        bertqa_labeler_free(labeler);
        OPTIONS(labeler, options);
        options.call = &call;
        is_ok(bertqa_labeler_create(context, examples, draw(&in) % 3, &options, &labeler));
        size_t count = bertqa_labeler_label_count(labeler), length;
        for (size_t i = 0; i < count; i++) {
          const char *words = bertqa_labeler_label_get(labeler, i, &length);
          require_words(words, length);
        }
        REQUIRE(bertqa_labeler_label_get(labeler, count, NULL) == NULL);
        break;
      }
      case 10:
        if (labeler != NULL) {
          input text = draw_bytes(&in, 1024);
          bertqa_text_pair pair = {chars(text), text.size, NULL, 0};
          bertqa_classification *result;
          is_ok(bertqa_labeler_classify(labeler, &pair, 1, &call, &result, NULL));
          require_classification(result, text.size);
          bertqa_classification_free(result);
        }
        break;
      case 11: {
        OPTIONS(train, options);
        options.max_ngram = small(&in) % 3;
        options.min_word_length = small(&in);
        options.calibrate = small(&in) % 2 ? BERTQA_ON : BERTQA_DEFAULT;
        options.threads = 1;
        bertqa_trainer_free(trainer);
        is_ok(bertqa_trainer_create(&options, &trainer));
        break;
      }
      case 12:
        if (trainer != NULL) {
          input text = draw_bytes(&in, 1024), label = draw_bytes(&in, 64);
          is_ok(bertqa_trainer_set_group(trainer, chars(label), label.size % 4));
          is_ok(bertqa_trainer_add(trainer, chars(text), text.size, chars(label), label.size, &call));
        }
        break;
      case 13: {
        int32_t ids[16];
        size_t windows[4], segments[4], total = 0, count = draw(&in) % 5;
        float start[16], end[16];
        OPTIONS(logits, options);
        options.call = &call;
        for (size_t i = 0; i < 16; i++) ids[i] = small(&in);
        for (size_t i = 0; i < count; i++) {
          windows[i] = draw(&in) % 8;
          segments[i] = draw(&in) % 9;
          total += windows[i];
        }
        if (total <= 16)
          is_ok(bertqa_logits(context, ids, total, windows, draw(&in) & 1 ? segments : NULL, count, &options,
                              start, end));
        break;
      }
      case 14: {
        input text = draw_bytes(&in, 256), other = draw_bytes(&in, 1024);
        bertqa_answer_pair pairs[2] = {{chars(text), text.size, chars(other), other.size},
                                       {chars(other), other.size, chars(other), other.size}};
        bertqa_answers *answers[2];
        bertqa_status statuses[2];
        OPTIONS(answer, options);
        options.call = &call;
        options.max_windows = small(&in);
        bertqa_status *each = draw(&in) & 1 ? statuses : NULL;
        const bertqa_text questions[] = {{chars(text), text.size}, {"who", 3}};
        int is_prepared = code >= 128 && documents[slot] != NULL;
        is_ok(is_prepared ? bertqa_document_answer_batch(context, documents[slot], questions, 2, &options, answers, each)
                          : bertqa_answer_batch(context, pairs, 2, &options, answers, each));
        for (int i = 0; i < 2; i++) {
          if (answers[i] != NULL) require_answers(answers[i], is_prepared ? lengths[slot] : other.size);
          bertqa_answers_free(answers[i]);
        }
        break;
      }
      case 15:
        switch (draw(&in) % 5) {
          case 0: is_ok(bertqa_pool_set_threads(small(&in) % 5)); break;
          case 1: is_ok(bertqa_pool_start()); break;
          case 2: is_ok(bertqa_pool_shutdown()); break;
          case 3: {
            bertqa_sequence_state *copy = bertqa_sequence_state_clone(states[slot]);
            bertqa_sequence_state_free(copy);
            break;
          }
          case 4: {
            int32_t number = small(&in);
            REQUIRE(*bertqa_status_name(number) != '\0' && *bertqa_precision_name(number) != '\0');
            REQUIRE(*bertqa_isa_name(number) != '\0' && *bertqa_task_name(number) != '\0');
            REQUIRE(bertqa_abi_version() > 0 && *bertqa_version() != '\0');
            require_info(context);
            break;
          }
        }
    }
  }
  for (size_t i = 0; i < slots; i++) {
    bertqa_document_free(documents[i]);
    bertqa_sequence_state_free(states[i]);
  }
  bertqa_labeler_free(labeler);
  bertqa_trainer_free(trainer);
}

static void *run(void *part) {
  play(*(input *)part);
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (contexts[0] == NULL) {
    static const char *const names[kinds] = {"tiny-bert", "tiny-bert-classifier", "tiny-bert-embedder",
                                             "tiny-lstm", "tiny-gru"};
    for (int i = 0; i < kinds; i++) contexts[i] = fixture(names[i], BERTQA_OFF);
  }
  if (size == 0 || size > 16384) return 0;
  if (*data < 128) {
    play((input){data + 1, size - 1});
    return 0;
  }
  pthread_t threads[3];
  input parts[3];
  size_t third = (size - 1) / 3;
  for (size_t i = 0; i < 3; i++) {
    parts[i] = (input){data + 1 + i * third, third};
    REQUIRE(pthread_create(&threads[i], NULL, run, &parts[i]) == 0);
  }
  for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
