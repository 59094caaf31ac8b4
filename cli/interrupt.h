/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP for verbs that run programs or wait: the verb ends its work first, and then ends the
 * process as the signal would have done. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* Catches the signals from now on. Signals that the parent has set to be ignored, as nohup does, stay ignored. */
void interrupt_begin (void);

/* Ends the process if a signal came, and lets later signals end it at once. */
void interrupt_end (void);

/* Returns a descriptor that is readable from the first signal on; -1 before interrupt_begin(). */
int interrupt_get_fd (void);

/* Returns the first signal that came, or 0. */
int interrupt_get_signal (void);

/* Ends what waits for a signal, as a signal would do, without a signal. */
void interrupt_stop (void);

/* Whether a signal came, or interrupt_stop() was called. */
bool interrupt_is_pending (void);

/* Waits until interrupt_is_pending() or @wait_ms have passed. */
void interrupt_wait (gint64 wait_ms);

/* Ends the process by the signal that came; for process 1 of a container, which no such signal ends, with the exit
 * status that a shell gives it. Returns if no signal came. */
void interrupt_die (void);
