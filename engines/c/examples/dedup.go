// Writes the first URL of each group of equivalent ones, by cgo: go run dedup.go < urls.txt
//
// CGO_CFLAGS="-I DIRECTORY OF uriscan.h" and CGO_LDFLAGS="-L DIRECTORY -l uriscan_c" say where the library is.
package main

/*
#include "uriscan.h"
*/
import "C"

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"unsafe"
)

// A Set of what has been seen. All goroutines may use it at the same time.
type Set struct{ handle *C.uriscan_set }

// text is a slice as C has it. C keeps nothing of it.
func text(b []byte) (*C.char, C.size_t) {
	if len(b) == 0 {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(&b[0])), C.size_t(len(b))
}

// failed is what the handle says after a call that returned status, or nil; it frees the handle.
func failed(status C.int32_t, handle *C.uriscan_error) error {
	defer C.uriscan_error_free(handle)
	if status == C.URISCAN_OK {
		return nil
	}
	var buffer [1024]byte
	var length C.size_t
	to, capacity := text(buffer[:])
	if C.uriscan_error_text(handle, to, capacity, &length) != C.URISCAN_OK {
		length = 0
	}
	return fmt.Errorf("code %d: %s", status, buffer[:length])
}

// NewSet makes a set in memory under options, lines of name=value.
func NewSet(options string) (*Set, error) {
	var equivalence *C.uriscan_equivalence
	var set *C.uriscan_set
	from, length := text([]byte(options))
	handle := C.uriscan_error_new()
	status := C.uriscan_equivalence_new(from, length, &equivalence, handle)
	if status == C.URISCAN_OK {
		status = C.uriscan_set_new(equivalence, &set, handle)
	}
	C.uriscan_equivalence_free(equivalence)
	return &Set{set}, failed(status, handle)
}

// Insert adds url, and says whether no equivalent one was there.
func (s *Set) Insert(url []byte) (bool, error) {
	var result C.uint8_t
	from, length := text(url)
	// No handle for a call that rarely fails: it is made for the call that says why.
	if C.uriscan_set_insert(s.handle, from, length, &result, nil) != C.URISCAN_OK {
		handle := C.uriscan_error_new()
		return false, failed(C.uriscan_set_insert(s.handle, from, length, &result, handle), handle)
	}
	return result == C.URISCAN_NEW, nil
}

// Close frees the set.
func (s *Set) Close() { C.uriscan_set_free(s.handle) }

func run(in io.Reader, out io.Writer) error {
	set, err := NewSet("preset=rfc\non_invalid=drop")
	if err != nil {
		return err
	}
	defer set.Close()
	lines, kept := bufio.NewReader(in), bufio.NewWriter(out)
	for {
		line, end := lines.ReadBytes('\n')
		line = bytes.TrimSuffix(line, []byte("\n"))
		isNew, err := set.Insert(line)
		if err != nil {
			return err
		}
		if isNew {
			kept.Write(line)
			kept.WriteByte('\n')
		}
		if end == io.EOF {
			return kept.Flush()
		} else if end != nil {
			return end
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dedup:", err)
		os.Exit(2)
	}
}
