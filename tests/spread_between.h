/* SPDX-License-Identifier: MIT */
/* tests/spread_between.h - what stands between a rank and the others: an exchange that passes everything on, but for
 * what a test makes of it. */
#ifndef CSAW_SPREAD_BETWEEN_H
#define CSAW_SPREAD_BETWEEN_H

#include "partition/exchange.h"

#include <cstring>
#include <vector>

namespace spread {

class Between {
  public:
    virtual ~Between() = default;
    csaw__exchange view(const csaw__exchange &exchange) {
        inner = exchange;
        return {this,    inner.rank, inner.size, inner.batch, room,    send,    receive, gather, gathered,
                give_up, gave_up,    settle,     idle,        nullptr, nullptr, nullptr}; // nothing goes straight
    }

  protected:
    virtual csaw_status may() { return CSAW_OK; }   // before each call for a message
    virtual void came(unsigned char *, uint64_t) {} // a batch of so many bytes
    csaw__exchange inner = {};

  private:
    static Between *of(void *self) { return static_cast<Between *>(self); }
    static csaw_status room(void *self, uint32_t to, void **out) {
        CSAW_TRY(of(self)->may());
        return of(self)->inner.room(of(self)->inner.self, to, out);
    }
    static csaw_status send(void *self, uint32_t to, uint64_t bytes) {
        CSAW_TRY(of(self)->may());
        return of(self)->inner.send(of(self)->inner.self, to, bytes);
    }
    static csaw_status receive(void *self, uint32_t *from, const void **data, uint64_t *bytes) {
        CSAW_TRY(of(self)->may());
        CSAW_TRY(of(self)->inner.receive(of(self)->inner.self, from, data, bytes));
        if (!*data) return CSAW_OK;
        std::vector<uint64_t> &batch = of(self)->batch;
        batch.resize(*bytes / 8);
        std::memcpy(batch.data(), *data, *bytes);
        of(self)->came(reinterpret_cast<unsigned char *>(batch.data()), *bytes);
        *data = batch.data();
        return CSAW_OK;
    }
    static csaw_status gather(void *self, const void *mine) {
        return of(self)->inner.gather(of(self)->inner.self, mine);
    }
    static csaw_status gathered(void *self, const void **all) {
        return of(self)->inner.gathered(of(self)->inner.self, all);
    }
    static void give_up(void *self) { of(self)->inner.give_up(of(self)->inner.self); }
    static bool gave_up(void *self) { return of(self)->inner.gave_up(of(self)->inner.self); }
    static csaw_status settle(void *self, bool (*leave)(void *), void *user) {
        return of(self)->inner.settle(of(self)->inner.self, leave, user);
    }
    static void idle(void *self) { of(self)->inner.idle(of(self)->inner.self); }

    std::vector<uint64_t> batch; // the last that came
};

} // namespace spread

#endif
