/* Texts. The first byte picks the tokenizer and options. Tokens lie in the text and in order, come out
 * alike twice, and with BERT's a text cut at a space has the tokens of its parts, and one of ASCII those of a plain
 * reference. The inputs are also given to the Rust library, with tokenizers of every kind: Tests/python. */
#include <ctype.h>

#include "fuzz.h"

enum { LONGEST_WORD = 100 }; /* longer ones are unknown, as in BERT's own code */

static int is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/* The longest piece first, at each place of a word. places: where its bytes are in the text. Returns how many tokens the
 * word has, which must be the next of the `count` at `ids` and `ranges`. */
static size_t require_word(const bertqa_context *context, const char *word, size_t length, const bertqa_range *places,
                           const int32_t *ids, const bertqa_range *ranges, size_t count) {
  char piece[LONGEST_WORD + 2] = "##";
  int32_t expected[LONGEST_WORD];
  size_t pieces = 0, ends[LONGEST_WORD], start = 0;
  while (length <= LONGEST_WORD && start < length) {
    int32_t id = -1;
    size_t end = length;
    for (; end > start && id < 0; end--) {
      memcpy(piece + 2, word + start, end - start);
      id = start == 0 ? bertqa_context_vocabulary_id(context, piece + 2, end)
                      : bertqa_context_vocabulary_id(context, piece, end - start + 2);
    }
    if (id < 0) break;
    start = ends[pieces] = end + 1;
    expected[pieces++] = id;
  }
  if (start < length) {
    expected[0] = bertqa_context_vocabulary_id(context, "[UNK]", 5);
    ends[0] = length;
    pieces = 1;
  }
  REQUIRE(pieces <= count);
  for (size_t i = 0; i < pieces; i++) {
    REQUIRE(ids[i] == expected[i]);
    REQUIRE(ranges[i].start == places[i == 0 ? 0 : ends[i - 1]].start && ranges[i].end == places[ends[i] - 1].end);
  }
  return pieces;
}

/* The tokens of a text of ASCII are those of BERT's published algorithm, done byte by byte. */
static void require_reference(const bertqa_context *context, const uint8_t *text, size_t length,
                              const bertqa_tokens *tokens) {
  const int lowercase = bertqa_context_info(context)->is_lowercase;
  const int32_t *ids = bertqa_tokens_ids(tokens);
  const bertqa_range *ranges = bertqa_tokens_ranges(tokens);
  size_t count = bertqa_tokens_count(tokens), used = 0, letters = 0;
  char *word = malloc(length + 1);
  bertqa_range *places = malloc((length + 1) * sizeof *places);
  REQUIRE(word != NULL && places != NULL);
  for (size_t i = 0; i <= length; i++) {
    const uint8_t byte = i < length ? text[i] : ' ';
    if (iscntrl(byte) && !is_space(byte)) continue;
    if (letters > 0 && (is_space(byte) || ispunct(byte) || ispunct((uint8_t)word[0]))) {
      used += require_word(context, word, letters, places, ids + used, ranges + used, count - used);
      letters = 0;
    }
    if (is_space(byte)) continue;
    places[letters] = (bertqa_range){i, i + 1};
    word[letters++] = (char)(lowercase ? tolower(byte) : byte);
  }
  REQUIRE(used == count);
  free(word);
  free(places);
}

static bertqa_tokens *tokenize(const bertqa_context *context, const uint8_t *text, size_t length,
                               bertqa_switch parse) {
  OPTIONS(tokenize, options);
  options.parse_special_tokens = parse;
  bertqa_tokens *tokens;
  REQUIRE(is_ok(bertqa_tokenize(context, (const char *)text, length, &options, &tokens)));
  require_tokens(context, tokens, length);
  return tokens;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bertqa_context *contexts[5];
  if (contexts[0] == NULL) {
    contexts[0] = fixture("tokenizer", BERTQA_ON);
    contexts[1] = fixture("tiny-bert-cased", BERTQA_ON);
    contexts[2] = fixture("pipeline-byte-level", BERTQA_ON);
    contexts[3] = fixture("pipeline-characters", BERTQA_ON);
    contexts[4] = fixture("pipeline-unigram", BERTQA_ON);
  }
  if (size == 0) return 0;
  int is_bert = (*data & 4) == 0;
  const bertqa_context *context = contexts[is_bert ? *data & 1 : *data & 8 ? 4 : 2 + (*data & 1)];
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
  if (is_bert && parse == BERTQA_OFF) {
    uint8_t *ascii = malloc(size + 1);
    REQUIRE(ascii != NULL);
    for (size_t i = 0; i < size; i++) ascii[i] = data[i] & 127;
    bertqa_tokens *tokens = tokenize(context, ascii, size, parse);
    require_reference(context, ascii, size, tokens);
    bertqa_tokens_free(tokens);
    free(ascii);
  }
  return 0;
}
