//go:build !purego

package residues

func vectorImplementations() []*Implementation { return []*Implementation{neon} }

// neon keeps to the Advanced SIMD that every arm64 processor has. A residue below 2^27
// takes 4.25 vector instructions, counted in the code: about two cycles of a processor
// with two vector units, where the portable code has two dependent multiplications of
// 64 bits.
var neon = newFloat("neon", "Advanced SIMD, as every arm64 processor has it",
	func() bool { return true },
	floatFunctions{
		lanes:    16,
		products: productsNEON, productsWide: productsWideNEON,
		generate: generateNEON, generateWide: generateWideNEON,
	})
