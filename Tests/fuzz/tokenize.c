/* Texts. The first byte picks the tokenizer and options. Tokens lie in the text and in order, come out
 * alike twice, and with BERT's a text cut at a space has the tokens of its parts. */
#include "fuzz.h"

static bertqa_tokens *tokenize(const bertqa_context *context, const uint8_t *text, size_t length,
                               bertqa_switch parse) {
  bertqa_tokenize_options options = BERTQA_TOKENIZE_OPTIONS_INIT;
  options.parse_special_tokens = parse;
  bertqa_tokens *tokens;
  REQUIRE(is_ok(bertqa_tokenize(context, (const char *)text, length, &options, &tokens)));
  require_tokens(context, tokens, length);
  return tokens;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bertqa_context *contexts[4];
  if (contexts[0] == NULL) {
    contexts[0] = fixture("tokenizer", BERTQA_ON);
    contexts[1] = fixture("tiny-bert-cased", BERTQA_ON);
    contexts[2] = fixture("pipeline-byte-level", BERTQA_ON);
    contexts[3] = fixture("pipeline-characters", BERTQA_ON);
  }
  if (size == 0) return 0;
  int is_bert = (*data & 4) == 0;
  const bertqa_context *context = contexts[(*data & 1) + (is_bert ? 0 : 2)];
  bertqa_switch parse = *data & 2 ? BERTQA_ON : BERTQA_OFF;
  data++;
  size--;
  bertqa_tokens *whole = tokenize(context, data, size, parse), *again = tokenize(context, data, size, parse);
  size_t count = bertqa_tokens_count(whole);
  REQUIRE(bertqa_tokens_count(again) == count);
  REQUIRE(count == 0 || memcmp(bertqa_tokens_ids(whole), bertqa_tokens_ids(again), count * 4) == 0);
  bertqa_tokens_free(again);
  const uint8_t *space = size > 0 ? memchr(data, ' ', size) : NULL;
  if (is_bert && space != NULL && parse == BERTQA_OFF) {
    size_t cut = (size_t)(space - data), offsets[2] = {0, cut};
    bertqa_tokens *parts[2] = {tokenize(context, data, cut, parse),
                               tokenize(context, space, size - cut, parse)};
    size_t index = 0;
    for (int p = 0; p < 2; p++) {
      for (size_t i = 0; i < bertqa_tokens_count(parts[p]); i++, index++) {
        REQUIRE(index < count && bertqa_tokens_ids(parts[p])[i] == bertqa_tokens_ids(whole)[index]);
        REQUIRE(bertqa_tokens_ranges(parts[p])[i].start + offsets[p] ==
                bertqa_tokens_ranges(whole)[index].start);
        REQUIRE(bertqa_tokens_ranges(parts[p])[i].end + offsets[p] == bertqa_tokens_ranges(whole)[index].end);
      }
      bertqa_tokens_free(parts[p]);
    }
    REQUIRE(index == count);
  }
  bertqa_tokens_free(whole);
  return 0;
}
