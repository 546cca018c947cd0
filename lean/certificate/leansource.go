package certificate

import (
	"fmt"
	"io"
	"strings"
)

// WriteLean writes the same claim as Lean source against the statement of the
// formal-conjectures project, whose intervals run from one boundary to below the
// next: the boundaries are the cuts plus one. It refuses a witness that does not
// hold. Whether Lean gets through the computation is another matter: beyond
// intervals of some thousand numbers, use the export of [Write].
func WriteLean(w io.Writer, witness Witness) error {
	if err := witness.Check(); err != nil {
		return err
	}
	var boundaries []string
	for _, t := range witness.Cuts {
		boundaries = append(boundaries, fmt.Sprint(t+1))
	}
	k, p, list := witness.K, witness.P, strings.Join(boundaries, ", ")
	_, err := fmt.Fprintf(w, `import FormalConjectures.ErdosProblems.«1056»

/-! A witness of Erdős problem 1056 for k = %[1]d: the prime %[2]d. -/

namespace Erdos1056

theorem witness_k%[1]d_prime : Nat.Prime %[2]d := by norm_num

theorem witness_k%[1]d_increasing : StrictMono (![%[3]s] : Fin (%[1]d + 1) → ℕ) := by
  rw [Fin.strictMono_iff_lt_succ]
  decide

theorem witness_k%[1]d_products : AllModProdEqualsOne %[2]d (![%[3]s] : Fin (%[1]d + 1) → ℕ) := by
  unfold AllModProdEqualsOne
  decide +kernel

theorem witness_k%[1]d :
    ∃ (p : ℕ) (_ : p.Prime) (boundaries : Fin (%[1]d + 1) → ℕ) (_ : StrictMono boundaries),
      AllModProdEqualsOne p boundaries :=
  ⟨%[2]d, witness_k%[1]d_prime, ![%[3]s], witness_k%[1]d_increasing, witness_k%[1]d_products⟩

end Erdos1056
`, k, p, list)
	return err
}
