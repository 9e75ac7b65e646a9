/* SPDX-License-Identifier: MIT */
/* spmm/device_won_edge.cuh - edges of the transpose, as the kernels read them that gather winners. */
#ifndef CSAW_SPMM_DEVICE_WON_EDGE_CUH
#define CSAW_SPMM_DEVICE_WON_EDGE_CUH

#include "spmm/device_unit.cuh"
#include "spmm/device_winners_layout.cuh"

template <int WORDS> struct csaw__won_edge { /* of the transpose */
    csaw_vertex row;
    float weight;
    uint32_t won[WORDS];
};

/* The number in the matrix of the edge at place k of the transpose, or k where it is not asked for. */
static __device__ __forceinline__ csaw_edge csaw__won_number(const csaw__won_order &order, uint64_t k) {
    return order.edge ? order.edge[k] : k;
}

/* The edge at place k of the transpose, of number e. won: the first of the WORDS that are asked for, of `words` an
 * edge. */
template <int WORDS>
static __device__ __forceinline__ csaw__won_edge<WORDS> csaw__won_edge_at(const csaw__product &p,
                                                                          const csaw__won_order &order,
                                                                          const uint32_t *won, uint32_t words,
                                                                          uint64_t head, uint64_t k, csaw_edge e) {
    constexpr int AT_ONCE = WORDS < 4 ? WORDS : 4;
    const uint32_t *const words_of = won + (order.place ? k : e) * words;
    csaw__won_edge<WORDS> out;
    out.row = p.col[k];
    out.weight = p.weight ? p.weight[(order.weights ? k : e) * p.heads + head] : 1.0f;
#pragma unroll
    for (int w = 0; w < WORDS; w += AT_ONCE) {
        const csaw__pack<uint32_t, AT_ONCE> some = *(const csaw__pack<uint32_t, AT_ONCE> *)(words_of + w);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) out.won[w + i] = some.at[i];
    }
    return out;
}

#endif
