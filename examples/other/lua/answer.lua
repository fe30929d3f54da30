-- Answers a question about a text and prints the answer's position in bytes, from 0 and without the end.
local ffi = require("ffi")

ffi.cdef([[
typedef struct bertqa_context bertqa_context;
typedef struct bertqa_answers bertqa_answers;
typedef struct { size_t start, end_; } bertqa_range;
/* The first fields of bertqa_answer_span. The library returns it by pointer and may add fields. */
typedef struct { size_t struct_size; bertqa_range bytes; } bertqa_answer_span;

int32_t bertqa_context_create(const char *directory, const void *options, bertqa_context **context);
void bertqa_context_free(bertqa_context *context);
int32_t bertqa_answer(const bertqa_context *context, const char *question, size_t question_length,
                      const char *document, size_t document_length, const void *options,
                      bertqa_answers **answers);
const bertqa_answer_span *bertqa_answers_get(const bertqa_answers *answers, size_t index);
void bertqa_answers_free(bertqa_answers *answers);
const char *bertqa_last_error(void);
]])

local bertqa = ffi.load("bertqa")

local function check(status)
  if status ~= 0 then error(ffi.string(bertqa.bertqa_last_error()), 0) end
end

-- Returns the default model, which is freed when nothing refers to it. All coroutines and states of a process can
-- share it by its pointer.
local function load_model()
  local created = ffi.new("bertqa_context *[1]")
  check(bertqa.bertqa_context_create(nil, nil, created))
  return ffi.gc(created[0], bertqa.bertqa_context_free)
end

-- Returns the position of the best answer, or nil: document:sub(start + 1, end_) is the answer.
local function answer(context, question, document)
  local found = ffi.new("bertqa_answers *[1]")
  check(bertqa.bertqa_answer(context, question, #question, document, #document, nil, found))
  local best = bertqa.bertqa_answers_get(found[0], 0)
  local start, end_
  if best ~= nil then
    start, end_ = tonumber(best.bytes.start), tonumber(best.bytes.end_)
  end
  bertqa.bertqa_answers_free(found[0])
  return start, end_
end

if #arg ~= 2 then
  io.stderr:write("usage: answer.lua QUESTION TEXT\n")
  os.exit(2)
end
local start, end_ = answer(load_model(), arg[1], arg[2])
if start then
  print(start, end_, arg[2]:sub(start + 1, end_))
else
  print("there is nothing to answer from")
end
