// Package schema describes JSON formats by tables. One table checks what is
// read and written and prints the JSON Schema of the format, so that the two
// cannot drift apart.
//
// A [Spec] names a format and gives its fields as a tree of types: [String],
// [Integer], [Enum], [Const], [Array], [Object] and so on. Objects are closed:
// a key that the table does not list is refused. What relates several fields is
// a [Rule], a Go function with a sentence that the printed schema quotes.
//
// Lengths of strings count UTF-16 code units, as ECMAScript does. A JSON Schema
// counts code points and so is never stricter than the table.
package schema
