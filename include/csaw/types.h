/* SPDX-License-Identifier: MIT */
/* csaw/types.h - the few types that a program and a sampler file share. Reads no system header under
 * NVRTC. */
#ifndef CSAW_TYPES_H
#define CSAW_TYPES_H

#ifdef __CUDACC_RTC__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

typedef uint32_t csaw_vertex; /* 0 .. num_vertices - 1 */
typedef uint64_t csaw_edge;   /* 0 .. num_edges - 1: the arc's position in the CSR */

#define CSAW_NONE 0xffffffffu              /* no vertex */
#define CSAW_NO_EDGE 0xffffffffffffffffull /* no edge */
#define CSAW_ALL 0xffffffffu               /* of a fanout: every arc of positive bias */

/* Functions of a sampler file and of csaw's own headers: one text for C11, C++, nvcc and NVRTC. */
#if defined(__CUDACC__)
#define CSAW_FN static __device__ __forceinline__
#elif defined(__GNUC__)
#define CSAW_FN static inline __attribute__((always_inline, unused))
#else
#define CSAW_FN static inline
#endif

/* The engine's own. CSAW__ONCE: on the CPU compiled once for all that call it, where a call costs nothing beside what
 * is done: loops over a row. CSAW__RARE: the same, for what hardly ever happens. They are why a sampler file compiles
 * in about a second. */
#if defined(__clang__)
#define CSAW__NO_CLONE /* gcc would copy a function for the constants of a caller */
#else
#define CSAW__NO_CLONE noclone,
#endif
#if defined(__GNUC__) && !defined(__CUDACC__)
#define CSAW__ONCE static __attribute__((noinline, CSAW__NO_CLONE unused))
#define CSAW__RARE static __attribute__((noinline, CSAW__NO_CLONE cold, unused))
#else
#define CSAW__ONCE CSAW_FN
#define CSAW__RARE CSAW_FN
#endif

/* ---- parameters of a sampler ----------------------------------------------
 *
 *   CSAW_PARAMS(my_params,
 *       (float, p, 1, p > 0, "return parameter"),
 *       (float, q, 1, q > 0, "in-out parameter"))
 *
 * declares `typedef struct my_params { float p; float q; } my_params;` and the table by which the
 * command line and Python set its fields. Each entry: type, name, default, condition that a value must
 * meet (1 = any), one line of help. Types: float double int32_t uint32_t int64_t uint64_t. At most 12. */

typedef enum csaw_type {
    CSAW_TYPE_FLOAT,
    CSAW_TYPE_DOUBLE,
    CSAW_TYPE_INT32,
    CSAW_TYPE_UINT32,
    CSAW_TYPE_INT64,
    CSAW_TYPE_UINT64
} csaw_type;

typedef struct csaw_param {
    const char *name;
    csaw_type type;
    uint32_t offset;            /* bytes from the start of the struct */
    double value;               /* the default */
    const char *condition;      /* as written, such as "p > 0" */
    int (*holds)(double value); /* whether a value meets the condition */
    const char *help;
} csaw_param;

#define CSAW__TYPE_float CSAW_TYPE_FLOAT
#define CSAW__TYPE_double CSAW_TYPE_DOUBLE
#define CSAW__TYPE_int32_t CSAW_TYPE_INT32
#define CSAW__TYPE_uint32_t CSAW_TYPE_UINT32
#define CSAW__TYPE_int64_t CSAW_TYPE_INT64
#define CSAW__TYPE_uint64_t CSAW_TYPE_UINT64

#define CSAW__OPEN(...) __VA_ARGS__
#define CSAW__CALL(M, ...) M(__VA_ARGS__)
#define CSAW__FIELD(NAME, ENTRY) CSAW__CALL(CSAW__FIELD_OF, NAME, CSAW__OPEN ENTRY)
#define CSAW__FIELD_OF(NAME, TYPE, FIELD, VALUE, CONDITION, HELP) TYPE FIELD;
#define CSAW__CHECK(NAME, ENTRY) CSAW__CALL(CSAW__CHECK_OF, NAME, CSAW__OPEN ENTRY)
#define CSAW__CHECK_OF(NAME, TYPE, FIELD, VALUE, CONDITION, HELP) \
    static int csaw__##NAME##_##FIELD(double FIELD) {             \
        (void)FIELD;                                              \
        return CONDITION;                                         \
    }
#define CSAW__ENTRY(NAME, ENTRY) CSAW__CALL(CSAW__ENTRY_OF, NAME, CSAW__OPEN ENTRY)
#define CSAW__ENTRY_OF(NAME, TYPE, FIELD, VALUE, CONDITION, HELP)                                                  \
    {#FIELD, CSAW__TYPE_##TYPE, (uint32_t)offsetof(struct NAME, FIELD), VALUE, #CONDITION, csaw__##NAME##_##FIELD, \
     HELP},

#define CSAW__EACH(M, N, ...) \
    CSAW__CALL(CSAW__PICK, __VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(M, N, __VA_ARGS__)
#define CSAW__PICK(a, b, c, d, e, f, g, h, i, j, k, l, COUNT, ...) CSAW__JOIN(CSAW__EACH_, COUNT)
#define CSAW__JOIN(A, B) CSAW__JOIN_OF(A, B)
#define CSAW__JOIN_OF(A, B) A##B
#define CSAW__EACH_1(M, N, A) M(N, A)
#define CSAW__EACH_2(M, N, A, ...) M(N, A) CSAW__EACH_1(M, N, __VA_ARGS__)
#define CSAW__EACH_3(M, N, A, ...) M(N, A) CSAW__EACH_2(M, N, __VA_ARGS__)
#define CSAW__EACH_4(M, N, A, ...) M(N, A) CSAW__EACH_3(M, N, __VA_ARGS__)
#define CSAW__EACH_5(M, N, A, ...) M(N, A) CSAW__EACH_4(M, N, __VA_ARGS__)
#define CSAW__EACH_6(M, N, A, ...) M(N, A) CSAW__EACH_5(M, N, __VA_ARGS__)
#define CSAW__EACH_7(M, N, A, ...) M(N, A) CSAW__EACH_6(M, N, __VA_ARGS__)
#define CSAW__EACH_8(M, N, A, ...) M(N, A) CSAW__EACH_7(M, N, __VA_ARGS__)
#define CSAW__EACH_9(M, N, A, ...) M(N, A) CSAW__EACH_8(M, N, __VA_ARGS__)
#define CSAW__EACH_10(M, N, A, ...) M(N, A) CSAW__EACH_9(M, N, __VA_ARGS__)
#define CSAW__EACH_11(M, N, A, ...) M(N, A) CSAW__EACH_10(M, N, __VA_ARGS__)
#define CSAW__EACH_12(M, N, A, ...) M(N, A) CSAW__EACH_11(M, N, __VA_ARGS__)

#if defined(__CUDACC__) /* device code needs the struct alone */
#define CSAW_PARAMS(NAME, ...)                     \
    typedef struct NAME {                          \
        CSAW__EACH(CSAW__FIELD, NAME, __VA_ARGS__) \
    } NAME
#else
#define CSAW_PARAMS(NAME, ...)                     \
    typedef struct NAME {                          \
        CSAW__EACH(CSAW__FIELD, NAME, __VA_ARGS__) \
    } NAME;                                        \
    CSAW__EACH(CSAW__CHECK, NAME, __VA_ARGS__)     \
    static const csaw_param NAME##_table[] = {     \
        CSAW__EACH(CSAW__ENTRY, NAME, __VA_ARGS__){0, CSAW_TYPE_FLOAT, 0, 0, 0, 0, 0}}
#endif

#endif
