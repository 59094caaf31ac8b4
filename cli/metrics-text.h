/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus' text format: families of samples, with escaped label values. */
#pragma once

#include <glib.h>

/* Begins a family of gauges. Its samples must follow directly. */
void metrics_begin (GString *text, const char *name, const char *help);

/* Begins a sample of the family @name, and adds its labels; the value ends it. Label values may be any text. */
void metrics_begin_sample (GString *text, const char *name);
void metrics_add_label (GString *text, const char *label, const char *value);
void metrics_end_sample (GString *text, const char *value);
void metrics_end_number (GString *text, gint64 value);

/* A family with one sample that has no labels. */
void metrics_add_number (GString *text, const char *name, const char *help, gint64 value);
