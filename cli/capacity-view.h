/* SPDX-License-Identifier: Apache-2.0 */
/* The slots and the fragmentation of each class. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* The slices of each class by state. document_free() it. */
Document *slots_document (const QuoitSnapshot *snapshot);

/* With @are_joined, only the classes with cubes in blocks. document_free() it. */
Document *fragmentation_document (const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation,
                                  bool are_joined);

/* "0.25"; g_free() it. */
char *millionths_format (uint32_t ppm);

/* Adds accelerator, topology and chips per host of a class. */
void capacity_add_class (Table *table, const QuoitSnapshot *snapshot, uint32_t class_index);

/* Adds "LEAST..MOST", or one number if they are equal. Takes both. */
void capacity_take_range (Table *table, char *least, char *most);
