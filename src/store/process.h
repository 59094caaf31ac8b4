/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises children of fork(2), and closes descriptors in them. */
#pragma once

#include "base/error.h"

/* Returns a number that differs between this process and its ancestors. The process id is not enough, because a child
 * may get the id of an ended ancestor, or the id that its parent has in another PID namespace. */
guint64 quoit_process_unique_id (void);
/* Returns how many fork(2) calls lead to this process, as far as the C library knows. Makes no system call. */
guint32 quoit_process_count_forks (void);

/* Registers a descriptor that a child of fork(2) closes immediately, because open-file locks would otherwise survive
 * in the child. *@fd may be -1. The address must stay valid until quoit_process_close_file(). */
void quoit_process_register_file (int *fd);
void quoit_process_close_file (int *fd);
/* Like quoit_process_close_file(), for a descriptor that something else closes. */
void quoit_process_unregister_file (int *fd);
/* Closes *@fd, which stays registered, and sets it to @with, which may be -1. */
void quoit_process_set_file (int *fd, int with);
