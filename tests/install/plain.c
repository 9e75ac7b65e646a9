/* SPDX-License-Identifier: MIT */
/* plain.c - compiled by hand with the flags of pkg-config: finds a built-in sampler. */
#include <csaw/samplers.h>
#include <stdio.h>

int main(void) {
    printf("%.3s %s\n", csaw_version(), csaw_sampler_find("node2vec") == &csaw_node2vec ? "found" : "not found");
    return 0;
}
