// The published method, in our own words, as the yardstick of the benchmarks: one
// prime at a time, all p cuts, Montgomery multiplication, one flat open-addressed
// table of 2^25 slots keyed by the factorial residue. A slot holds the residue, the
// prime it belongs to (so the table need not be cleared) and a saturating 8-bit
// count, 9 bytes in all. Primes must be below 2^25.
//
//   g++ -O3 -o baseline baseline.cpp && ./baseline 10428401 10428600
//
// prints the artifact for k = 15.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

constexpr int k = 15;
constexpr u32 table_bits = 25;
constexpr u32 table_size = 1u << table_bits;

struct Montgomery {
    u32 p, negative_inverse, one, square;

    explicit Montgomery(u32 modulus) : p(modulus) {
        u32 inverse = p;
        for (int i = 0; i < 4; i++) inverse *= 2 - p * inverse;
        negative_inverse = -inverse;
        one = u32((u64(1) << 32) % p);
        square = u32(u64(one) * one % p);
    }
    u32 multiply(u32 a, u32 b) const {
        u64 t = u64(a) * b;
        u64 u = (t + u64(u32(t) * negative_inverse) * p) >> 32;
        return u32(u >= p ? u - p : u);
    }
    u32 add(u32 a, u32 b) const {
        u32 s = a + b;
        return s >= p ? s - p : s;
    }
};

struct Table {
    std::vector<u32> residue = std::vector<u32>(table_size);
    std::vector<u32> owner = std::vector<u32>(table_size);
    std::vector<std::uint8_t> count = std::vector<std::uint8_t>(table_size);

    unsigned increment(u32 r, u32 p) {
        u32 i = (r * 0x9E3779B1u) >> (32 - table_bits);
        while (owner[i] == p && residue[i] != r) i = (i + 1) & (table_size - 1);
        if (owner[i] != p) {
            owner[i] = p;
            residue[i] = r;
            count[i] = 0;
        }
        if (count[i] < 255) count[i]++;
        return count[i];
    }
};

bool is_prime(u32 n) {
    if (n < 2) return false;
    for (u64 d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return true;
}

// Calls visit(t, t! mod p) for t = 0 ... p-1.
template <class Visit>
void walk(u32 p, Visit visit) {
    if (p == 2) {
        visit(0, 1);
        visit(1, 1);
        return;
    }
    Montgomery m(p);
    u32 residue = 1, factor = 0;
    for (u32 t = 0;;) {
        visit(t, residue);
        if (++t == p) return;
        factor = m.add(factor, m.one);
        residue = m.multiply(residue, factor);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: baseline LO HI (HI < 2^25)\n");
        return 64;
    }
    u32 lo = u32(std::strtoul(argv[1], nullptr, 10)), hi = u32(std::strtoul(argv[2], nullptr, 10));
    if (lo < 1 || lo > hi || hi >= table_size) {
        std::fprintf(stderr, "baseline: expected 1 <= LO <= HI < 2^25\n");
        return 64;
    }
    Table table;
    u32 primes = 0, best_p = 0, best_residue = 0;
    unsigned best = 0;
    for (u32 p = lo; p <= hi && best <= k; p++) {
        if (!is_prime(p)) continue;
        primes++;
        unsigned most = 0;
        u32 smallest = 0;
        walk(p, [&](u32, u32 r) {
            unsigned n = table.increment(r, p);
            if (n > most || (n == most && r < smallest)) most = n, smallest = r;
        });
        if (most > best) best = most, best_p = p, best_residue = smallest;
    }
    std::printf("schema=canopus.erdos1056-k%d-search.v1\nstatus=%s\nproblem=1056\nk=%d\nrange_start=%u\nrange_end=%u\n"
                "primes_tested=%u\nmax_multiplicity=%u\nbest_p=%u\nbest_residue=%u\ncuts=",
                k, best > k ? "witness" : "negative", k, lo, hi, primes, best, best_p, best_residue);
    const char* separator = "";
    if (best_p)
        walk(best_p, [&](u32 t, u32 r) {
            if (r == best_residue) std::printf("%s%u", separator, t), separator = ",";
        });
    std::printf("\n");
}
