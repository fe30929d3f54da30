// The header in C++11, as a C++ program uses it: handles in unique_ptr, statuses as exceptions.
#include <bertqa_experimental.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

template <typename T, void (*release)(T *)>
struct Release {
  void operator()(T *pointer) const { release(pointer); }
};
using Context = std::unique_ptr<bertqa_context, Release<bertqa_context, bertqa_context_free>>;
using Answers = std::unique_ptr<bertqa_answers, decltype(&bertqa_answers_free)>;

static void check(bertqa_status status) {
  if (status != BERTQA_OK) throw std::runtime_error(bertqa_last_error());
}

static Context make_context(const char *model) {
  bertqa_context *context = nullptr;
  check(bertqa_context_create(model, nullptr, &context));
  return Context(context);
}

static std::string answer(const Context &context, const std::string &question, const std::string &document) {
  bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
  call.cancel = [](void *) -> int32_t { return 0; };
  bertqa_answer_options options = BERTQA_ANSWER_OPTIONS_INIT;
  options.call = &call;
  bertqa_answers *result = nullptr;
  check(bertqa_answer(context.get(), question.data(), question.size(), document.data(), document.size(),
                      &options, &result));
  Answers answers(result, bertqa_answers_free);
  if (bertqa_answers_count(answers.get()) == 0) return "";
  const bertqa_range range = bertqa_answers_get(answers.get(), 0)->bytes;
  return document.substr(range.start, range.end - range.start);
}

int main() {
  try {
    make_context("/nonexistent");
    std::cerr << "a model was loaded from nowhere\n";
    return 1;
  } catch (const std::runtime_error &error) {
    if (std::string(error.what()).find("/nonexistent") == std::string::npos) return 1;
  }
  const std::string found = answer(make_context(nullptr), "Who jumped over the dog?",
                                   "The quick brown fox jumps over the lethargic dog.");
  if (found == "The quick brown fox") return 0;
  std::cerr << "found \"" << found << "\"\n";
  return 1;
}
