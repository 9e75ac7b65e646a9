/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc_library.c - see nvrtc_library.h. Looked for where the CUDA Toolkit was that csaw was built with,
 * then by its name, which also finds the one that PyTorch or another library has loaded before. */
#include "runtime/base/status.h"

#ifdef CSAW_WITH_CUDA

#include "runtime/engine/nvrtc_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* A function's address is that of an object to dlsym(). */
static csaw_status find(void *library, const char *name, void *function, size_t size) {
    void *const at = dlsym(library, name);
    CSAW_REQUIRE(at, CSAW_ECUDA,
                 "the NVRTC that was found has no function %s; install that of the CUDA Toolkit csaw was built with",
                 name);
    memcpy(function, &at, size);
    return CSAW_OK;
}

csaw_status csaw__nvrtc_load(const char *const *names, csaw__nvrtc *out) {
    void *library = NULL;
    const char *name = names[0], *why = NULL;
    for (; *names && !library; names++) {
        library = dlopen(name = *names, RTLD_NOW | RTLD_LOCAL);
        if (!library) why = dlerror();
    }
    CSAW_REQUIRE(library, CSAW_ECUDA,
                 "NVRTC, which makes kernels of sampler and reducer files at run time, is not here (%s); install %s of "
                 "the CUDA Toolkit where the dynamic linker finds it, compile the files with your program "
                 "(csaw_add_sampler), or use device 'cpu'",
                 why, name);
#define FIND(RESULT, NAME, PARAMETERS) CSAW_TRY(find(library, "nvrtc" #NAME, &out->NAME, sizeof out->NAME));
    CSAW__NVRTC_FUNCTIONS(FIND)
#undef FIND
    return CSAW_OK;
}

csaw_status csaw__nvrtc_find(const csaw__nvrtc **out) {
    static const char *const names[] = {CSAW_NVRTC_PATH, CSAW_NVRTC_NAME, NULL};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static csaw__nvrtc nvrtc;
    static bool loaded;
    csaw_status status = CSAW_OK;
    pthread_mutex_lock(&lock);
    if (!loaded) status = csaw__nvrtc_load(names, &nvrtc);
    loaded = loaded || status == CSAW_OK;
    *out = &nvrtc;
    pthread_mutex_unlock(&lock);
    return status;
}

#endif
