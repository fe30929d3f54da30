//! Answers a question about a text and prints the answer's position in bytes, as Rust slices a `str`.

use std::ffi::{c_void, CStr};
use std::ops::Range;
use std::os::raw::{c_char, c_int};
use std::ptr;

#[repr(C)]
struct ByteRange {
    start: usize,
    end: usize,
}

/// The first fields of bertqa_answer_span. The library returns it by pointer and may add fields at the end.
#[repr(C)]
struct Span {
    struct_size: usize,
    bytes: ByteRange,
}

#[link(name = "bertqa")]
extern "C" {
    fn bertqa_context_create(path: *const c_char, options: *const c_void, context: *mut *mut c_void) -> c_int;
    fn bertqa_context_free(context: *mut c_void);
    fn bertqa_answer(
        context: *const c_void, question: *const u8, question_length: usize, document: *const u8,
        document_length: usize, options: *const c_void, answers: *mut *mut c_void,
    ) -> c_int;
    fn bertqa_answers_get(answers: *const c_void, index: usize) -> *const Span;
    fn bertqa_answers_free(answers: *mut c_void);
    fn bertqa_last_error() -> *const c_char;
}

/// A loaded model.
struct Context(*mut c_void);

// The library guarantees this: a context is immutable, and only its release requires exclusive access.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

/// Converts a status to a result. The error message is this thread's last, so call it before the next call.
fn check(status: c_int) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    let message = unsafe { CStr::from_ptr(bertqa_last_error()) };
    Err(message.to_string_lossy().into_owned())
}

impl Context {
    /// Loads the default model.
    fn new() -> Result<Context, String> {
        let mut context = ptr::null_mut();
        check(unsafe { bertqa_context_create(ptr::null(), ptr::null(), &mut context) })?;
        Ok(Context(context))
    }

    /// Returns the position of the best answer in the document.
    fn answer(&self, question: &str, document: &str) -> Result<Option<Range<usize>>, String> {
        let mut answers = ptr::null_mut();
        check(unsafe {
            bertqa_answer(
                self.0, question.as_ptr(), question.len(), document.as_ptr(), document.len(), ptr::null(),
                &mut answers,
            )
        })?;
        let best = unsafe { bertqa_answers_get(answers, 0).as_ref() };
        let range = best.map(|span| span.bytes.start..span.bytes.end);
        unsafe { bertqa_answers_free(answers) };
        Ok(range)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { bertqa_context_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        return Err("usage: answer QUESTION TEXT".to_string());
    }
    let (question, document) = (&arguments[1], &arguments[2]);
    let found = Context::new()?.answer(question, document)?;
    let range = found.ok_or("there is nothing to answer from")?;
    println!("{} {} {}", range.start, range.end, &document[range.clone()]);
    Ok(())
}
