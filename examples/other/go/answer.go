// Answers a question about a text and prints the answer's position in bytes, as Go indexes a string.
package main

/*
#cgo pkg-config: bertqa
#include <bertqa.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Context is a loaded model. Any number of goroutines can use it concurrently.
type Context struct{ handle *C.bertqa_context }

// Answer is document[Start:End].
type Answer struct {
	Start, End  int
	Probability float32
}

// The error message is per thread, so the caller must lock the goroutine to its thread.
func failure(status C.bertqa_status) error {
	return fmt.Errorf("%s: %s", C.GoString(C.bertqa_status_name(status)), C.GoString(C.bertqa_last_error()))
}

// NewContext loads the default model.
func NewContext() (*Context, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	context := &Context{}
	if status := C.bertqa_context_create(nil, nil, &context.handle); status != C.BERTQA_OK {
		return nil, failure(status)
	}
	return context, nil
}

// Close frees the model. No call may be using it.
func (context *Context) Close() { C.bertqa_context_free(context.handle) }

// Returns a pointer that C can read during a call.
func bytes(text string) (*C.char, C.size_t) {
	if text == "" {
		return nil, 0
	}
	data := []byte(text)
	return (*C.char)(unsafe.Pointer(&data[0])), C.size_t(len(data))
}

// Ask returns the best answer.
func (context *Context) Ask(question, document string) (Answer, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	q, questionLength := bytes(question)
	d, documentLength := bytes(document)
	var answers *C.bertqa_answers
	status := C.bertqa_answer(context.handle, q, questionLength, d, documentLength, nil, &answers)
	if status != C.BERTQA_OK {
		return Answer{}, failure(status)
	}
	defer C.bertqa_answers_free(answers)
	best := C.bertqa_answers_get(answers, 0)
	if best == nil {
		return Answer{}, errors.New("there is nothing to answer from")
	}
	return Answer{int(best.bytes.start), int(best.bytes.end), float32(best.probability)}, nil
}

func run() error {
	if len(os.Args) != 3 {
		return errors.New("usage: answer QUESTION TEXT")
	}
	context, err := NewContext()
	if err != nil {
		return err
	}
	defer context.Close()
	answer, err := context.Ask(os.Args[1], os.Args[2])
	if err != nil {
		return err
	}
	fmt.Println(answer.Start, answer.End, os.Args[2][answer.Start:answer.End])
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
