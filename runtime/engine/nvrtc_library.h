/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc_library.h - NVRTC, found when it is first needed, so that a csaw with CUDA runs where NVRTC is
 * not. Only in builds with CUDA. */
#ifndef CSAW_ENGINE_NVRTC_LIBRARY_H
#define CSAW_ENGINE_NVRTC_LIBRARY_H

#include <nvrtc.h>

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CSAW__NVRTC_FUNCTIONS(F)                                                                   \
    F(const char *, GetErrorString, (nvrtcResult))                                                 \
    F(nvrtcResult, Version, (int *, int *))                                                        \
    F(nvrtcResult, CreateProgram,                                                                  \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
    F(nvrtcResult, CompileProgram, (nvrtcProgram, int, const char *const *))                       \
    F(nvrtcResult, DestroyProgram, (nvrtcProgram *))                                               \
    F(nvrtcResult, GetProgramLogSize, (nvrtcProgram, size_t *))                                    \
    F(nvrtcResult, GetProgramLog, (nvrtcProgram, char *))                                          \
    F(nvrtcResult, GetCUBINSize, (nvrtcProgram, size_t *))                                         \
    F(nvrtcResult, GetCUBIN, (nvrtcProgram, char *))

typedef struct csaw__nvrtc { /* nvrtcGetErrorString() is GetErrorString, and so on */
#define FIELD(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    CSAW__NVRTC_FUNCTIONS(FIELD)
#undef FIELD
} csaw__nvrtc;

/* Of the process, loaded by the first call that finds it. CSAW_ECUDA: it is not here. */
csaw_status csaw__nvrtc_find(const csaw__nvrtc **out);
/* Out of the first of these libraries that can be loaded, paths or names for the dynamic linker, NULL at the end. */
csaw_status csaw__nvrtc_load(const char *const *names, csaw__nvrtc *out);

#ifdef __cplusplus
}
#endif

#endif
