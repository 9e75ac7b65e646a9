/* SPDX-License-Identifier: MIT */
/* tests/batched_cases.h - batches of small matrices, in every form that the library takes; features in every storage;
 * and the bound that results are held to. */
#ifndef CSAW_TESTS_BATCHED_CASES_H
#define CSAW_TESTS_BATCHED_CASES_H

#include "tests/norm_bound.h"
#include "tests/reference/batched.h"

#include <csaw/batched.h>
#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

extern "C" void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP

namespace batched {

using reference::Reduce;
using reference::SmallMatrix;

const Reduce reduces[] = {Reduce::sum, Reduce::mean, Reduce::max, Reduce::min};
const csaw_dtype dtypes[] = {CSAW_F32, CSAW_F16, CSAW_BF16};

inline csaw_reduce reduce_of(Reduce reduce) {
    switch (reduce) {
    case Reduce::sum: return CSAW_SUM;
    case Reduce::mean: return CSAW_MEAN;
    case Reduce::max: return CSAW_MAX;
    case Reduce::min: return CSAW_MIN;
    }
    return CSAW_SUM;
}

inline bool is_best(Reduce reduce) { return reduce == Reduce::max || reduce == Reduce::min; }

inline void use_threads(int count) {
    if (omp_set_num_threads) omp_set_num_threads(count);
}

/* ---- matrices ---- */

// Columns as the square of a uniform number: one is a hub, and entries repeat. Weights are products of small numbers
// if exact, so that products with features of a few bits are exact in float32.
inline SmallMatrix random_matrix(std::mt19937_64 &random, uint32_t rows, uint32_t cols, uint64_t entries, bool exact) {
    SmallMatrix out = {rows, cols, {}};
    std::uniform_real_distribution<> unit(0, 1);
    const double weights[] = {-2, -1, -0.5, 0.5, 1, 2};
    for (uint64_t e = 0; rows && cols && e < entries; e++) {
        const double u = unit(random);
        const double weight = exact ? weights[random() % 6] : static_cast<float>(unit(random) * 4 - 2);
        out.entries.push_back({static_cast<uint32_t>(random() % rows), static_cast<uint32_t>(u * u * cols), weight});
    }
    return out;
}

// No rows, no columns, nothing at all, no entries, one vertex with a loop, repeated entries alone, one full row among
// empty ones, and ordinary ones of several sizes.
inline std::vector<SmallMatrix> mixed(uint64_t seed, bool exact) {
    std::mt19937_64 random(seed);
    std::vector<SmallMatrix> out = {
        {0, 0, {}}, {0, 4, {}}, {4, 0, {}}, {5, 5, {}}, {1, 1, {{0, 0, 2}}}, {3, 2, {{1, 1, 1}, {1, 1, 1}, {1, 1, -1}}},
    };
    SmallMatrix hub = {20, 300, {}};
    for (uint32_t j = 0; j < 300; j++) hub.entries.push_back({7, j, j % 3 ? 0.5 : -1});
    out.push_back(hub);
    for (uint32_t n : {1, 5, 50, 64, 3, 33}) out.push_back(random_matrix(random, n, n, 3 * n, exact));
    out.push_back(random_matrix(random, 9, 40, 60, exact));
    out.push_back(random_matrix(random, 40, 2, 60, exact));
    return out;
}

inline void sort_by_row(SmallMatrix *a) {
    std::stable_sort(a->entries.begin(), a->entries.end(), [](auto &x, auto &y) { return x.row < y.row; });
}

/* ---- as the library takes them ---- */

enum class Form { list_csr, list_coo, list_pairs, join_csr, join_coo, join_csr_global, join_coo_global };
const Form forms[] = {Form::list_csr, Form::list_coo,        Form::list_pairs,     Form::join_csr,
                      Form::join_coo, Form::join_csr_global, Form::join_coo_global};
inline bool is_csr(Form form) {
    return form == Form::list_csr || form == Form::join_csr || form == Form::join_csr_global;
}
inline bool is_list(Form form) { return form == Form::list_csr || form == Form::list_coo || form == Form::list_pairs; }

struct Free {
    void operator()(csaw_batch *batch) const { csaw_batch_free(batch); }
};
using Batch = std::unique_ptr<csaw_batch, Free>;

// The arrays of a batch; CSR wants entries by row.
class Arrays {
  public:
    Arrays(const std::vector<SmallMatrix> &graphs, Form form, bool weighted = true) : form(form) {
        const bool global = form == Form::join_csr_global || form == Form::join_coo_global;
        const uint32_t stride = form == Form::list_pairs ? 2 : 1;
        for (const SmallMatrix &a : graphs) {
            const uint32_t row0 = global ? static_cast<uint32_t>(row_offset.back()) : 0;
            const uint32_t col0 = global ? static_cast<uint32_t>(col_offset.back()) : 0;
            for (const auto &entry : a.entries) {
                row.push_back(row0 + entry.row);
                if (stride == 2) row.push_back(col0 + entry.col);
                col.push_back(col0 + entry.col);
                weight.push_back(static_cast<float>(entry.weight));
            }
            for (uint32_t i = 0, e = 0; i < a.rows; i++) {
                while (e < a.entries.size() && a.entries[e].row == i) e++;
                rowptr.push_back(edge_offset.back() + e);
                if (i == 0) own_begin.push_back(own_rowptr.size());
                if (i == 0) own_rowptr.push_back(0);
                own_rowptr.push_back(e);
            }
            if (!a.rows) own_begin.push_back(own_rowptr.size()), own_rowptr.push_back(0);
            row_offset.push_back(row_offset.back() + a.rows);
            col_offset.push_back(col_offset.back() + a.cols);
            edge_offset.push_back(edge_offset.back() + a.entries.size());
        }
        for (size_t g = 0; g < graphs.size(); g++) {
            const uint64_t edge = edge_offset[g];
            csaw_small s = {};
            s.rows = graphs[g].rows;
            s.cols = graphs[g].cols;
            s.num_edges = graphs[g].entries.size();
            s.format = is_csr(form) ? CSAW_CSR : CSAW_COO;
            s.row = row.data() + edge * stride;
            s.col = stride == 2 ? s.row + 1 : col.data() + edge;
            s.rowptr = is_csr(form) ? own_rowptr.data() + own_begin[g] : nullptr;
            s.index_stride = stride == 2 ? 2 : 0;
            s.weight = weighted ? weight.data() + edge : nullptr;
            list.push_back(s);
        }
        joined.num_graphs = graphs.size();
        joined.format = is_csr(form) ? CSAW_CSR : CSAW_COO;
        joined.row_offset = row_offset.data();
        joined.col_offset = col_offset.data();
        joined.edge_offset = is_csr(form) ? nullptr : edge_offset.data();
        joined.row = is_csr(form) ? nullptr : row.data();
        joined.rowptr = is_csr(form) ? rowptr.data() : nullptr;
        joined.col = col.data();
        joined.weight = weighted ? weight.data() : nullptr;
        joined.global = global;
    }

    csaw_status create(csaw_batch **out) const {
        return is_list(form) ? csaw_batch_list(list.data(), list.size(), nullptr, out)
                             : csaw_batch_join(&joined, nullptr, out);
    }
    Batch batch() const {
        csaw_batch *out = nullptr;
        EXPECT_EQ(create(&out), CSAW_OK) << csaw_last_error();
        return Batch(out);
    }

    std::vector<csaw_small> list; // both may be spoilt by a test
    csaw_small_graphs joined = {};
    std::vector<csaw_vertex> row, col;
    std::vector<uint64_t> row_offset = {0}, col_offset = {0}, edge_offset = {0}, rowptr = {0}, own_rowptr, own_begin;
    std::vector<float> weight;

  private:
    Form form;
};

/* ---- features ---- */

inline double decode(csaw_dtype dtype, uint32_t bits) {
    if (dtype == CSAW_F32 || dtype == CSAW_BF16) {
        if (dtype == CSAW_BF16) bits <<= 16;
        float x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    const double sign = bits & 0x8000 ? -1 : 1, fraction = bits & 0x3ff;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

// A matrix for every graph in rows of any stride, by one array or by one for each graph. Begins as NaN throughout.
class Features {
  public:
    Features(const std::vector<uint32_t> &rows, uint64_t width, csaw_dtype dtype, uint64_t padding = 0,
             bool each = false)
        : rows(rows), width(width), stride(width + padding), dtype(dtype), by_each(each) {
        begin.push_back(0);
        for (uint32_t n : rows) begin.push_back(begin.back() + n);
        bytes.assign(begin.back() * stride * element(), '\xff'); // a NaN of each storage
    }

    csaw_batched_dense view() { // valid until the next one; of a copy, its own bytes
        csaw_batched_dense out = {};
        pointer.clear();
        for (size_t g = 0; g < rows.size(); g++) pointer.push_back(bytes.data() + begin[g] * stride * element());
        out.cols = width;
        out.stride = stride == width ? 0 : stride;
        out.dtype = dtype;
        out.rows = by_each ? 77 : begin.back(); // not read
        out.data = by_each ? nullptr : bytes.data();
        out.each = by_each ? pointer.data() : nullptr;
        return out;
    }

    // Numbers of few bits within [-4, 4] if exact: multiples of 1/4.
    void fill(uint64_t seed, bool exact) {
        std::mt19937_64 random(seed);
        for (uint64_t i = 0; i < begin.back(); i++)
            for (uint64_t c = 0; c < width; c++) {
                const float value = exact ? static_cast<float>(random() % 33) / 4 - 4
                                          : static_cast<float>(std::uniform_real_distribution<>(-4, 4)(random));
                put(i * stride + c, value);
            }
    }

    void put(uint64_t at, float value) { // cut to the storage
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (dtype == CSAW_F32) memcpy(&bytes[at * 4], &bits, 4);
        const int exponent = static_cast<int>(bits >> 23 & 255) - 127 + 15;
        const uint32_t sign = bits >> 16 & 0x8000, fraction = bits >> 13 & 0x3ff;
        uint16_t half = static_cast<uint16_t>(bits >> 16); // bf16
        if (dtype == CSAW_F16)
            half = static_cast<uint16_t>(exponent <= 0  ? sign // small ones to 0
                                         : isnan(value) ? 0x7e00
                                         : isinf(value) ? sign | 0x7c00
                                                        : sign | static_cast<uint32_t>(exponent) << 10 | fraction);
        if (dtype != CSAW_F32) memcpy(&bytes[at * 2], &half, 2);
    }

    double at(uint64_t place) const {
        uint32_t bits = 0;
        memcpy(&bits, &bytes[place * element()], element());
        return decode(dtype, bits);
    }

    std::vector<double> of(size_t g) const { // [rows[g], width]
        std::vector<double> out;
        for (uint64_t i = begin[g]; i < begin[g + 1]; i++)
            for (uint64_t c = 0; c < width; c++) out.push_back(at(i * stride + c));
        return out;
    }

    bool padding_untouched() const {
        for (uint64_t i = 0; i < begin.back(); i++)
            for (uint64_t b = (i * stride + width) * element(); b < (i + 1) * stride * element(); b++)
                if (bytes[b] != '\xff') return false;
        return true;
    }

    std::vector<uint32_t> rows;
    uint64_t width, stride;
    csaw_dtype dtype;
    std::vector<uint64_t> begin;
    std::vector<char> bytes;

  private:
    size_t element() const { return dtype == CSAW_F32 ? 4 : 2; }
    bool by_each;
    std::vector<void *> pointer;
};

inline std::vector<uint32_t> rows_of(const std::vector<SmallMatrix> &graphs) {
    std::vector<uint32_t> out;
    for (const SmallMatrix &a : graphs) out.push_back(a.rows);
    return out;
}
inline std::vector<uint32_t> cols_of(const std::vector<SmallMatrix> &graphs) {
    std::vector<uint32_t> out;
    for (const SmallMatrix &a : graphs) out.push_back(a.cols);
    return out;
}

/* ---- the bound ---- */

inline double rounding(csaw_dtype dtype, double value) { // half a unit of the storage
    if (dtype == CSAW_F32) return 0;                     // part of the bound below
    return dtype == CSAW_F16 ? std::max(fabs(value) * 0x1p-11, 0x1p-25) : fabs(value) * 0x1p-8;
}

// Which element is farther from the reference than 2 n 2^-24 sum |a||x| and one rounding, or that their norm is, or "".
inline std::string differ(const reference::Dense &expected, const std::vector<double> &got, csaw_dtype dtype) {
    if (expected.value.size() != got.size()) return "sizes differ";
    NormBound norm;
    for (size_t i = 0; i < got.size(); i++) {
        const double e = expected.value[i], bound = 2 * expected.terms[i] * 0x1p-24 * expected.size[i];
        const bool same = isnan(e)   ? isnan(got[i])
                          : isinf(e) ? got[i] == e
                                     : fabs(got[i] - e) <= bound + rounding(dtype, fabs(e) + bound);
        if (!same)
            return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " + std::to_string(e) +
                   " within " + std::to_string(bound);
        norm.add(got[i], e, expected.size[i], static_cast<double>(expected.terms[i]), rounding(dtype, e));
    }
    return norm.holds() ? "" : "the norm of the errors is out of bound";
}

inline csaw_batched_options options_of(Reduce reduce, std::vector<uint32_t> *arg) {
    csaw_batched_options out = {};
    out.size = sizeof out;
    out.reduce = reduce_of(reduce);
    out.arg = arg && is_best(reduce) ? arg->data() : nullptr;
    return out;
}

} // namespace batched

#endif
