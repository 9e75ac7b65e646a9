/* SPDX-License-Identifier: MIT */
/* csaw/reducer.h - a reduction of your own for csaw_spmm(), from two functions in a C file, which is compiled unchanged
 * as C11 for the CPU and as CUDA C++ for the GPU. Of csaw's headers it includes this one, and csaw/math.h if it calls
 * csaw_exp(), csaw_log(), csaw_pow() or csaw_sqrt():
 *
 *   #include <csaw/reducer.h>
 *
 *   CSAW_FN float one(void) { return 1; }
 *   CSAW_FN float times(float so_far, float product) { return so_far * product; }
 *
 *   CSAW_REDUCER(times_all, one, times);
 *
 * Compile it with your program, in CMake by csaw_add_reducer(program times_all.c), and
 *
 *   CSAW_DECLARE_REDUCER(times_all);
 *   csaw_spmm(&a, &x, CSAW_SPMM(.reducer = &times_all), &y);
 *
 * or at run time: csaw_reducer_compile("times_all.c", &reducer).
 *
 * Each element of y begins as init() and takes the row's edges one after the other, in their order, whatever the number
 * of threads: y[i, c] = reduce(... reduce(reduce(init(), w0 * x[j0, c]), w1 * x[j1, c]) ...), in float32. An empty row
 * stays init(). So the pair need be neither commutative nor associative; it keeps no state of its own, and is called by
 * several threads at once. The functions become part of the loop below, which the compiler turns into vector code where
 * it can, and of kernels of csaw's on a GPU. For the same bits there, but for sign and payload of a NaN, use + - * /,
 * comparisons and csaw/math.h: libm differs between CPU and GPU. Source: the init and reduce pair of GE-SpMM (Huang et
 * al., SC'20, section III). */
#ifndef CSAW_REDUCER_H
#define CSAW_REDUCER_H

#include "types.h"

#define CSAW__REDUCER_ABI 4u

#define CSAW__REDUCER_COLUMNS 256u /* of a piece, at most */

typedef struct csaw__reducer_piece { /* some edges of a row, and some columns */
    uint32_t edges, columns;
    float product[32][CSAW__REDUCER_COLUMNS]; /* [edges, columns]: weight times x, rounded */
    float value[CSAW__REDUCER_COLUMNS];       /* [columns] */
} csaw__reducer_piece;

struct csaw__product;

/* Its kernels for the GPU, numbered as in spmm/device_reducer.h: launched where nvcc compiled them, or found. */
typedef struct csaw__device_reducer {
    /* a cudaError_t */
    int (*launch)(int kernel, unsigned blocks, unsigned threads, void *stream, const struct csaw__product *product);
    /* a csaw_status; *function: the kernel for GPU `ordinal`, as cudaLaunchKernel() takes it. NULL if launch is not */
    int (*find)(const struct csaw__device_reducer *self, int kernel, int ordinal, const void **function);
} csaw__device_reducer;

typedef struct csaw_reducer {
    uint32_t abi; /* CSAW__REDUCER_ABI of the headers it was compiled with */
    const char *name;
    float (*begin)(void);
    void (*add)(csaw__reducer_piece *piece);
    const csaw__device_reducer *device; /* NULL = none: for the CPU alone */
} csaw_reducer;

#ifdef __cplusplus
#define CSAW_DECLARE_REDUCER(NAME) extern "C" const csaw_reducer NAME
#else
#define CSAW_DECLARE_REDUCER(NAME) extern const csaw_reducer NAME
#endif

/* ---- what a file of a reducer becomes ---- */

#if defined(__CUDACC__) /* compiled with spmm/device_reducer.cuh after it, whose kernels call these functions */
#define CSAW_REDUCER(NAME, INIT, REDUCE)                                                 \
    struct csaw__reducer_functions { /* by names that no user has */                     \
        static __device__ __forceinline__ float csaw__begin(void) { return INIT(); }     \
        static __device__ __forceinline__ float csaw__add(float so_far, float product) { \
            return REDUCE(so_far, product);                                              \
        }                                                                                \
    };                                                                                   \
    CSAW__EXPORT_DEVICE_REDUCER(NAME)
#ifdef __CUDACC_RTC__
#define CSAW__EXPORT_DEVICE_REDUCER(NAME) static_assert(sizeof(#NAME) > 1, "a reducer needs a name")
#else
#define CSAW__EXPORT_DEVICE_REDUCER(NAME)                                                        \
    static int csaw__launch_reducer(int kernel, unsigned blocks, unsigned threads, void *stream, \
                                    const struct csaw__product *product);                        \
    extern "C" const csaw__device_reducer NAME##__device;                                        \
    extern "C" const csaw__device_reducer NAME##__device = {csaw__launch_reducer, 0}
#endif
#else
#ifdef CSAW__RUNTIME /* compiled by csaw_reducer_compile(), which finds the reducer under this one name */
#define CSAW__EXPORT_REDUCER(NAME)                                                                 \
    extern __attribute__((visibility("default"))) const csaw_reducer *const csaw__runtime_reducer; \
    const csaw_reducer *const csaw__runtime_reducer = &NAME;
#else
#define CSAW__EXPORT_REDUCER(NAME)
#endif
#ifdef CSAW__WITH_DEVICE /* by csaw_add_reducer(), beside the kernels */
#define CSAW__DECLARE_DEVICE_REDUCER(NAME) extern const csaw__device_reducer NAME##__device;
#define CSAW__DEVICE_REDUCER_OF(NAME) &NAME##__device
#else
#define CSAW__DECLARE_DEVICE_REDUCER(NAME)
#define CSAW__DEVICE_REDUCER_OF(NAME) 0
#endif
#define CSAW_REDUCER(NAME, INIT, REDUCE)                                                                   \
    static float NAME##__begin(void) { return INIT(); }                                                    \
    static void NAME##__add(csaw__reducer_piece *p) {                                                      \
        for (uint32_t e = 0; e < p->edges; e++)                                                            \
            for (uint32_t c = 0; c < p->columns; c++) p->value[c] = REDUCE(p->value[c], p->product[e][c]); \
    }                                                                                                      \
    CSAW__DECLARE_DEVICE_REDUCER(NAME)                                                                     \
    CSAW_DECLARE_REDUCER(NAME);                                                                            \
    CSAW__EXPORT_REDUCER(NAME)                                                                             \
    const csaw_reducer NAME = {CSAW__REDUCER_ABI, #NAME, NAME##__begin, NAME##__add, CSAW__DEVICE_REDUCER_OF(NAME)}
#endif

#endif
