/* SPDX-License-Identifier: MIT */
/* samplers/select/team.cuh - lanes of a warp that work together: a team is a warp, a tile a part of one, its width
 * known when it runs. All lanes of the warp take part in every call, whatever their tiles do: so the mask of lanes is
 * known when compiled, without which each call looks first for the lanes that it is for. */
#ifndef CSAW_SELECT_TEAM_CUH
#define CSAW_SELECT_TEAM_CUH

#include <csaw/types.h>

#ifdef __CUDA_ARCH__
#define CSAW__ASSUME(WHAT) __builtin_assume(WHAT)
#else
#define CSAW__ASSUME(WHAT) (void)(WHAT)
#endif

enum { CSAW__TEAM = 32, CSAW__TEAMS = 256 / CSAW__TEAM /* of a block */ };

template <bool WARP> struct csaw__lanes {
    static constexpr uint32_t mask = 0xffffffffu;
    uint32_t lane, shift, lanes;
    __device__ explicit csaw__lanes(uint32_t log_width = 5) {
        const uint32_t in_warp = threadIdx.x & 31;
        lanes = 1u << log_width;
        lane = in_warp & (width() - 1);
        shift = in_warp - lane;
    }
    __device__ uint32_t width() const { return WARP ? 32 : lanes; }
    __device__ void sync() const { __syncwarp(); }
    /* Sets of lanes; how many of a set are below this one. */
    __device__ uint32_t own(uint32_t in_warp) const {
        return WARP ? in_warp : in_warp >> shift & (mask >> (32 - lanes));
    }
    __device__ uint32_t ballot(bool x) const { return own(__ballot_sync(mask, x)); }
    __device__ uint32_t alike(uint32_t x) const { return own(__match_any_sync(mask, x)); }
    static __device__ bool any_of_warp(bool x) { return __any_sync(mask, x); }
    __device__ uint32_t lower(uint32_t set) const { return (uint32_t)__popc(set & ((1u << lane) - 1)); }
    static __device__ uint32_t first(uint32_t set) { return (uint32_t)__ffs((int)set) - 1; }
    /* x of another lane */
    __device__ uint32_t get(uint32_t x, uint32_t from) const { return __shfl_sync(mask, x, (int)from, (int)width()); }
    __device__ uint64_t get(uint64_t x, uint32_t from) const {
        return __shfl_sync(mask, (unsigned long long)x, (int)from, (int)width());
    }
    __device__ double get(double x, uint32_t from) const { return __shfl_sync(mask, x, (int)from, (int)width()); }
    /* x of the lane before; of lane 0 its own */
    __device__ uint64_t before(uint64_t x) const {
        return __shfl_up_sync(mask, (unsigned long long)x, 1, (int)width());
    }
    __device__ double before(double x) const { return __shfl_up_sync(mask, x, 1, (int)width()); }
    __device__ uint64_t sum(uint64_t x) const { return sum_of_group(x, width()); }
    /* Of the lane's group of so many, a power of two. */
    __device__ uint64_t sum_of_group(uint64_t x, uint32_t lanes_of_group) const {
        for (uint32_t d = lanes_of_group / 2; d > 0; d >>= 1)
            x += __shfl_xor_sync(mask, (unsigned long long)x, (int)d, (int)width());
        return x;
    }
    template <typename T> __device__ T largest(T x) const {
        for (uint32_t d = width() / 2; d > 0; d >>= 1) {
            const T other = __shfl_xor_sync(mask, x, (int)d, (int)width());
            x = other > x ? other : x;
        }
        return x;
    }
    template <typename T> __device__ T prefix(T x) const { /* inclusive; Kogge, Stone 1973 */
#ifdef __CUDA_ARCH__
        static_assert((T)-1 > (T)0, "sums of unsigned integers");
        if constexpr (WARP && sizeof(T) == sizeof(uint64_t))
            return prefix_of_warp(x);
        else
#endif
            return prefix_of_any(x);
    }

  private:
    template <typename T> __device__ T prefix_of_any(T x) const {
        for (uint32_t d = 1; d < width(); d <<= 1) {
            const T other = __shfl_up_sync(mask, x, d, (int)width());
            if (lane >= d) x += other;
        }
        return x;
    }
#ifdef __CUDA_ARCH__
    /* The shuffle itself tells whether there is such a lane. */
    static __device__ uint64_t prefix_of_warp(uint64_t x) {
#pragma unroll
        for (uint32_t d = 1; d < 32; d <<= 1)
            asm volatile("{\n"
                         " .reg .pred there;\n"
                         " .reg .b32 low, high;\n"
                         " .reg .b64 other;\n"
                         " mov.b64 {low, high}, %0;\n"
                         " shfl.sync.up.b32 low|there, low, %1, 0, 0xffffffff;\n"
                         " shfl.sync.up.b32 high, high, %1, 0, 0xffffffff;\n"
                         " mov.b64 other, {low, high};\n"
                         " @there add.u64 %0, %0, other;\n"
                         "}"
                         : "+l"(x)
                         : "r"(d));
        return x;
    }
#endif
};

typedef csaw__lanes<true> csaw__team;
typedef csaw__lanes<false> csaw__tile;

#endif
