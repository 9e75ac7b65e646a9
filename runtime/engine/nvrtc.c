/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc.c - a sampler or reducer file becomes device code: see nvrtc.h.
 *
 * Method: NVRTC compiles the file's text with two lines after it, which include csaw's kernels and name the one
 * to make; so the lines in its messages are the file's own. One kernel at a time, because a run needs one to three of
 * some thirty, and making code takes far longer than reading all the text. csaw's own headers come from the cache,
 * where cache.c writes them. Arithmetic is IEEE's (no contraction, no flush to zero), which makes the bits those of the
 * CPU. The result is cached under a hash of the text, what the C compiler's preprocessor made of it (which covers the
 * file's own headers), those two lines, csaw's headers, options, architecture and NVRTC's version. */
#include "runtime/engine/nvrtc.h"

#ifdef CSAW_WITH_CUDA

#include <pthread.h>
#include <string.h>

#include "runtime/base/job.h"
#include "runtime/base/memory.h"
#include "runtime/engine/compile.h"
#include "runtime/engine/headers.h"
#include "runtime/engine/nvrtc_library.h"
#include "spmm/device_reducer.h"

static const char *const options[] = {"--std=c++20", "--fmad=false", "--ftz=false", "--prec-div=true",
                                      "--prec-sqrt=true"};
enum { NUM_OPTIONS = sizeof options / sizeof *options };

const char *csaw__sampler_ending(int kernel) {
#define ENDING(NAME) "#include \"runtime/engine/device_kernels.cuh\"\nCSAW__INSTANTIATE(" #NAME ")\n",
    static const char *const ending[] = {CSAW__DEVICE_KERNELS(ENDING)};
#undef ENDING
    return ending[kernel];
}

const char *csaw__reducer_ending(int kernel) {
#define ENDING(STORAGE, LANES, VECTOR)       \
    "#include \"spmm/device_reducer.cuh\"\n" \
    "CSAW__INSTANTIATE_REDUCER(" #STORAGE ", " #LANES ", " #VECTOR ")\n",
    static const char *const ending[] = {CSAW__REDUCER_KERNELS(ENDING)};
#undef ENDING
    return ending[kernel];
}

static csaw_status nvrtc_check(const csaw__nvrtc *nvrtc, nvrtcResult result, const char *call) {
    CSAW_REQUIRE(result == NVRTC_SUCCESS, CSAW_ECUDA,
                 "%s: %s; check that NVRTC is the one of the CUDA Toolkit csaw was built with", call,
                 nvrtc->GetErrorString(result));
    return CSAW_OK;
}

static csaw_status tell_log(const csaw__nvrtc *nvrtc, nvrtcProgram program, const char *path) {
    char *log = NULL;
    size_t size = 0;
    csaw_status status = CSAW_OK;
    CSAW_TRY(nvrtc_check(nvrtc, nvrtc->GetProgramLogSize(program, &size), "nvrtcGetProgramLogSize"));
    CSAW_TRY(csaw__alloc_zero(&log, size + 1, "the messages of NVRTC"));
    CSAW_TRY_DONE(nvrtc_check(nvrtc, nvrtc->GetProgramLog(program, log), "nvrtcGetProgramLog"));
    status = csaw__fail(CSAW_ECOMPILE, "%s did not compile for the GPU; correct it:\n%s", path, log);
done:
    csaw__free(log);
    return status;
}

/* Options of this call: NUM_OPTIONS as above and MORE_OPTIONS, texts that *own keeps. */
enum { MORE_OPTIONS = 3 };

static csaw_status make_options(const char *path, int architecture, const char **all, char **own) {
    const char *slash = strrchr(path, '/');
    char *directory = NULL, *headers = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__cache_directory(&directory));
    CSAW_TRY_DONE(csaw__cache_headers(directory, &headers));
    CSAW_TRY_DONE(csaw__format(&own[0], "--gpu-architecture=sm_%d", architecture));
    CSAW_TRY_DONE(csaw__format(&own[1], "--include-path=%s", headers));
    CSAW_TRY_DONE(csaw__format(&own[2], "--include-path=%.*s", slash ? (int)(slash - path) : 1, slash ? path : "."));
    memcpy(all, options, sizeof options);
    memcpy(all + NUM_OPTIONS, own, MORE_OPTIONS * sizeof *own);
done:
    csaw__free(headers);
    csaw__free(directory);
    return status;
}

csaw_status csaw__nvrtc_compile(const char *path, const char *text, const char *ending, int architecture, char **cubin,
                                size_t *size) {
    csaw_status status = CSAW_OK;
    const csaw__nvrtc *nvrtc;
    nvrtcProgram program = NULL;
    nvrtcResult result;
    char *source = NULL, *code = NULL, *own[MORE_OPTIONS] = {NULL, NULL, NULL};
    const char *all[NUM_OPTIONS + MORE_OPTIONS];
    size_t bytes = 0;
    CSAW_TRY(csaw__nvrtc_find(&nvrtc));
    CSAW_TRY_DONE(make_options(path, architecture, all, own));
    CSAW_TRY_DONE(csaw__format(&source, "%s\n%s", text, ending));
    CSAW_TRY_DONE(
        nvrtc_check(nvrtc, nvrtc->CreateProgram(&program, source, path, 0, NULL, NULL), "nvrtcCreateProgram"));
    result = nvrtc->CompileProgram(program, NUM_OPTIONS + MORE_OPTIONS, all);
    if (result == NVRTC_ERROR_COMPILATION) CSAW_TRY_DONE(tell_log(nvrtc, program, path));
    CSAW_TRY_DONE(nvrtc_check(nvrtc, result, "nvrtcCompileProgram"));
    CSAW_TRY_DONE(nvrtc_check(nvrtc, nvrtc->GetCUBINSize(program, &bytes), "nvrtcGetCUBINSize"));
    CSAW_TRY_DONE(csaw__alloc(&code, bytes, "a kernel compiled by NVRTC"));
    CSAW_TRY_DONE(nvrtc_check(nvrtc, nvrtc->GetCUBIN(program, code), "nvrtcGetCUBIN"));
    *cubin = code;
    *size = bytes;
    code = NULL;
done:
    if (program) nvrtc->DestroyProgram(&program);
    for (int i = 0; i < MORE_OPTIONS; i++) csaw__free(own[i]);
    csaw__free(source);
    csaw__free(code);
    return status;
}

/* ---- cache ---- */

static csaw_status hash_kernel(const csaw__source *source, const csaw__device_code *code, csaw__hash *out) {
    int version[3] = {0, 0, code->architecture};
    const csaw__nvrtc *nvrtc;
    CSAW_TRY(csaw__nvrtc_find(&nvrtc));
    CSAW_TRY(nvrtc_check(nvrtc, nvrtc->Version(version, version + 1), "nvrtcVersion"));
    *out = csaw__hash_start();
    csaw__hash_add(out, version, sizeof version);
    csaw__hash_add(out, &source->content, sizeof source->content);
    csaw__hash_text(out, source->text);
    csaw__hash_text(out, code->ending);
    for (int i = 0; i < NUM_OPTIONS; i++) csaw__hash_text(out, options[i]);
    for (const csaw__header *header = csaw__headers; header->name; header++) csaw__hash_text(out, header->text);
    return CSAW_OK;
}

/* code: its ending and architecture say which. */
static csaw_status fetch_kernel(const csaw__source *source, csaw__device_code *code) {
    csaw_status status = CSAW_OK;
    char *directory = NULL, *path = NULL;
    csaw__hash hash;
    bool cached = false;
    CSAW_TRY(hash_kernel(source, code, &hash));
    CSAW_TRY(csaw__cache_directory(&directory));
    CSAW_TRY_DONE(csaw__cache_path(directory, &hash, ".cubin", &path));
    CSAW_TRY_DONE(csaw__cache_has(path, &cached));
    if (cached) {
        CSAW_TRY_DONE(csaw__read_file(path, &code->cubin, &code->size));
        goto done;
    }
    CSAW_TRY_DONE(
        csaw__nvrtc_compile(source->path, source->text, code->ending, code->architecture, &code->cubin, &code->size));
    CSAW_TRY_DONE(csaw__cache_write(directory, path, code->cubin, code->size));
done:
    csaw__free(path);
    csaw__free(directory);
    return status;
}

csaw_status csaw__nvrtc_make(csaw__source *source, const char *ending, int architecture, const void **cubin,
                             size_t *size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    csaw__device_code *code, *made = NULL;
    csaw_status status = CSAW_OK;
    pthread_mutex_lock(&lock);
    code = source->device;
    while (code && (code->ending != ending || code->architecture != architecture)) code = code->next;
    if (!code) {
        CSAW_TRY_DONE(csaw__alloc_zero(&made, 1, "a kernel compiled at run time"));
        made->ending = ending;
        made->architecture = architecture;
        CSAW_TRY_DONE(fetch_kernel(source, made));
        made->next = source->device;
        source->device = code = made;
        made = NULL;
    }
    *cubin = code->cubin;
    *size = code->size;
done:
    pthread_mutex_unlock(&lock);
    if (made) csaw__free(made->cubin);
    csaw__free(made);
    return status;
}

csaw_status csaw__nvrtc_cubin(const csaw_sampler *sampler, int kernel, int architecture, const void **cubin,
                              size_t *size) {
    csaw__loaded *const record = csaw__loaded_find(sampler);
    CSAW_REQUIRE(record, CSAW_EUNSUPPORTED,
                 "sampler %s has no kernels for the GPU and no file to make them from; build it with CUDA, or "
                 "load it by csaw_sampler_compile()",
                 sampler->name);
    return csaw__nvrtc_make(&record->source, csaw__sampler_ending(kernel), architecture, cubin, size);
}

#endif
