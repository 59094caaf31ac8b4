/* SPDX-License-Identifier: Apache-2.0 */
/* How many slices can be promised, if cubes fail independently of each other (docs/promise.md). The number of cubes
 * that work is then binomial. A probability is a double from 0 to 1 and not NaN, and a number of cubes is at least 1:
 * callers check that. */
#pragma once

#include <glib.h>

enum { QUOIT_PROMISE_MAX_CUBES = 1000000 };

/* Returns the probability that all of @n parts work, each of which works with probability @availability. */
double quoit_planner_all_work (double availability, guint32 n);

/* Returns the probability that at least @n_needed of @n_cubes cubes work. */
double quoit_planner_probability (guint32 n_cubes, double availability, guint32 n_needed);

/* Returns the greatest number of cubes of which at least so many work with probability @confidence. */
guint32 quoit_planner_sure_cubes (guint32 n_cubes, double availability, double confidence);

/* Returns the mean share of the cubes that work in slices of @cubes_each cubes: if the cubes that work form as many
 * slices as possible, and if each slice consists of certain cubes. @cubes_each is from 1 to @n_cubes. */
double quoit_planner_goodput (guint32 n_cubes, double availability, guint32 cubes_each);
double quoit_planner_static_goodput (guint32 n_cubes, double availability, guint32 cubes_each);
