/* SPDX-License-Identifier: Apache-2.0 */
/* How many slices can be promised at a confidence, if hosts fail independently of each other. docs/promise.md explains
 * the model. No fleet, database or file is read.
 *
 * The functions count in cubes, which optical circuit switches join to slices: a slice of @cubes_each cubes can have
 * any cubes that work. quoit_catalogue_lookup_cubes() returns the cubes of a topology. For a fleet without cubes, count
 * whole slices instead: @n_cubes is the number of slices, and @cubes_each is 1. */
#ifndef QUOIT_PROMISE_H
#define QUOIT_PROMISE_H

#include <stdbool.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_promise_availability:
 * @host_availability: the probability that a host works, from 0 to 1
 * @n_hosts: the hosts of a cube (%QUOIT_GENERATION_NUMBER_OCS_CUBE_HOSTS), or of a slice; 1 to 1,000,000
 * @availability: (out): set to the probability that all of them work
 *
 * Computes the availability of a cube, or of a whole slice, from that of its hosts.
 *
 * Fails with %QUOIT_ERROR_INVALID if a number is outside its range, or NaN.
 *
 * Returns: whether the numbers were valid
 */
QUOIT_API bool quoit_promise_availability (double host_availability, uint32_t n_hosts, double *availability,
                                           GError **error);

/**
 * quoit_promise_count:
 * @n_cubes: the number of cubes, 1 to 1,000,000
 * @availability: the probability that a cube works, from 0 to 1
 * @cubes_each: the number of cubes of each slice, 1 to @n_cubes
 * @n_held: the number of cubes that others have, and that have to work too; at most @n_cubes
 * @confidence: from 0 to 1
 * @count: (out): set to the number of slices
 *
 * Computes the statistic "count": the greatest number m of slices for which the probability that at least
 * @n_held + m * @cubes_each cubes work is at least @confidence. It is 0 if not even @n_held cubes are sure enough.
 *
 * A probability counts as equal to @confidence if rounding of the arguments may have made the difference: the
 * probability of too few cubes may exceed 1 - @confidence (or that of enough cubes miss a @confidence below 0.5) by a
 * billionth of its value.
 *
 * Fails with %QUOIT_ERROR_INVALID if a number is outside its range, or NaN.
 *
 * Returns: whether the numbers were valid
 */
QUOIT_API bool quoit_promise_count (uint32_t n_cubes, double availability, uint32_t cubes_each, uint32_t n_held,
                                    double confidence, uint32_t *count, GError **error);

/**
 * quoit_promise_probability:
 * @n_cubes: the number of cubes, 1 to 1,000,000
 * @availability: the probability that a cube works, from 0 to 1
 * @n_needed: a number of cubes; more than @n_cubes never work
 * @probability: (out): set to the probability
 *
 * Computes the probability that at least @n_needed cubes work. For m slices beside @n_held cubes, pass
 * @n_held + m * @cubes_each.
 *
 * Fails with %QUOIT_ERROR_INVALID if a number is outside its range, or NaN.
 *
 * Returns: whether the numbers were valid
 */
QUOIT_API bool quoit_promise_probability (uint32_t n_cubes, double availability, uint32_t n_needed, double *probability,
                                          GError **error);

/**
 * quoit_promise_goodput:
 * @n_cubes: the number of cubes, 1 to 1,000,000
 * @availability: the probability that a cube works, from 0 to 1
 * @cubes_each: the number of cubes of each slice, 1 to @n_cubes
 * @goodput: (out): set to the share, from 0 to 1
 *
 * Computes the statistic "goodput": the mean share of all cubes that are in slices, if the cubes that work always form
 * as many slices as possible.
 *
 * Fails with %QUOIT_ERROR_INVALID if a number is outside its range, or NaN.
 *
 * Returns: whether the numbers were valid
 */
QUOIT_API bool quoit_promise_goodput (uint32_t n_cubes, double availability, uint32_t cubes_each, double *goodput,
                                      GError **error);

/**
 * quoit_promise_static_goodput:
 * @n_cubes: the number of cubes, 1 to 1,000,000
 * @availability: the probability that a cube works, from 0 to 1
 * @cubes_each: the number of cubes of each slice, 1 to @n_cubes
 * @goodput: (out): set to the share, from 0 to 1
 *
 * Like quoit_promise_goodput(), for slices that are cabled once: each has its own cubes, and works only if all of them
 * work.
 *
 * Fails with %QUOIT_ERROR_INVALID if a number is outside its range, or NaN.
 *
 * Returns: whether the numbers were valid
 */
QUOIT_API bool quoit_promise_static_goodput (uint32_t n_cubes, double availability, uint32_t cubes_each,
                                             double *goodput, GError **error);

/* cdef-end */

G_END_DECLS

#endif
