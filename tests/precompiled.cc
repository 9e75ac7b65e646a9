/* SPDX-License-Identifier: MIT */
/* tests/precompiled.cc - no code: the headers that tests include are compiled once, with it. */
