// Package term holds the syntax of Lean's kernel language: hierarchical names,
// universe levels and expressions with de Bruijn indices.
//
// Everything lives in a [Store] and is hash-consed: two values of equal
// content have the same handle, so syntactic equality is comparison of
// integers and every traversal can be memoised per node. Binder names are
// remembered for printing but take no part in identity; terms that differ in
// the names of bound variables only have one handle. Handles are 32-bit
// indices into flat slices without pointers, which keeps the garbage collector
// out of the way.
//
// A Store can have children. A child sees all terms of its parent and adds its
// own; several children of one parent can be used concurrently as long as the
// parent does not change.
//
// Free variables are identified by a level and their type. [Store.FVarRange]
// is one more than the greatest level in a term, so a variable with that level
// is fresh for the term by construction; no counter and no context is needed,
// and results computed under binders can be cached across contexts.
package term
