/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_run.cuh - a product of MaxK made ready, and run: work memory taken, long rows found, then for each
 * slice the kernel of units, once for each share of the entries, and that of merging. */
#ifndef CSAW_SPMM_DEVICE_MAXK_RUN_CUH
#define CSAW_SPMM_DEVICE_MAXK_RUN_CUH

#include "spmm/device_long.cuh"
#include "spmm/device_maxk.h"
#include "spmm/device_private.cuh"

namespace { /* it launches kernels of the file that includes it */

class csaw__maxk_run {
  public:
    /* columns: of the results, or of the rows that an outer product reads; merged: results of chunks are; planned:
     * NULL, or what a plan knows of the matrix; long rows are found otherwise. The layout and what a row is stand in
     * the product. All memory is taken here, so that run() fails only if CUDA does. */
    csaw_status open(const place &where, const csaw__maxk_product &product, uint64_t columns, bool merged,
                     const csaw__device_known *planned) {
        csaw__product *const p = &m_.p;
        m_ = product;
        merged_ = merged;
        planned_ = planned != nullptr;
        p->heads = 1;
        p->columns = columns;
        p->width = (uint32_t)(columns < m_.width ? (columns + 3) / 4 * 4 : m_.width);
        p->slices_of_head = p->width ? (columns + p->width - 1) / p->width : 0;
        p->slices = 1;
        if (planned) {
            p->split = planned->split;
            p->units = planned->units;
        } else {
            p->split.most_rows = csaw__most_long_rows(p->num_edges, p->rows);
            p->split.most_chunks = csaw__most_chunks(p->num_edges, p->rows);
        }
        p->blocks = (p->split.most_chunks + p->rows + m_.groups - 1) / m_.groups;
        CSAW_REQUIRE(
            p->blocks <= 0x7fffffffu, CSAW_EINVAL,
            "%llu rows of %llu edges take %llu blocks, but a launch has at most 2^31 - 1; split the matrix by rows",
            (unsigned long long)p->rows, (unsigned long long)p->num_edges, (unsigned long long)p->blocks);
        if (!p->split.most_chunks) return CSAW_OK;
        if (merged) CSAW_TRY(partial_.take(where, p->split.most_chunks * p->width, "partial results of long rows"));
        p->partial = partial_.get();
        if (planned) return CSAW_OK;
        CSAW_TRY(count_.take(where, 2, "the number of long rows"));
        CSAW_TRY(chunk_.take(where, p->split.most_chunks, "the chunks of long rows"));
        CSAW_TRY(row_.take(where, p->split.most_rows, "a list of long rows"));
        p->split.count = count_.get(), p->split.chunk = chunk_.get(), p->split.row = row_.get();
        return CSAW_OK;
    }

    csaw_status run(const place &where, void (*kernel)(csaw__maxk_product)) {
        csaw__product *const p = &m_.p;
        if (!p->rows || !p->slices_of_head) return CSAW_OK;
        if (p->split.most_chunks && !planned_) {
            CSAW_CUDA(cudaMemsetAsync(p->split.count, 0, 2 * sizeof *p->split.count, where.stream));
            CSAW__LAUNCH(where, p->rows, csaw__find_long, p->rowptr, p->rows, p->split);
        }
        for (p->first_slice = 0; p->first_slice < p->slices_of_head; p->first_slice++) {
            m_.first_entry = 0;
            do {
                CSAW_TRY(csaw__device_launch(where.stream, (unsigned)p->blocks, CSAW__MAXK_THREADS, kernel, m_));
                m_.first_entry += m_.entries;
            } while (m_.first_entry < m_.m.k);
            if (merged_ && p->split.most_rows)
                CSAW__LAUNCH(where, p->split.most_rows * CSAW__MERGE_LANES, csaw__merge, *p);
        }
        return CSAW_OK;
    }

  private:
    csaw__maxk_product m_;
    bool merged_ = false, planned_ = false;
    work<uint64_t> count_;
    work<csaw__chunk> chunk_;
    work<csaw__long_row> row_;
    work<float> partial_;
};

} // namespace

#endif
