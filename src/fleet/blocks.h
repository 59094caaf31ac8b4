/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of cubes. A cube is a slice of the topology that optical circuit switches connect: 4x4x4 chips on hosts of 4.
 * The cubes of a block can be joined into one slice. Which cubes are in which block depends only on the layout, which
 * remembers it. */
#pragma once

#include "fleet/layout.h"

enum {
  QUOIT_CUBE_SIDE = 4, /* chips along each axis */
  QUOIT_CUBE_CHIPS = 64,
  QUOIT_CUBE_HOSTS = 16,     /* hosts of 4 chips */
  QUOIT_MAX_BLOCK_SIDE = 256 /* cubes along each axis, for positions */
};

typedef struct {
  const char *name; /* as users know it */
  guint32 source;   /* index in the layout: cubes of different sources are in different blocks */
  guint32 first, n; /* its cubes in QuoitBlocks.cubes */
  guint32 grid[3];  /* the cubes along each axis, of which some may be unknown; 0: no cube has a position */
} QuoitBlock;

/* The blocks of one class of cubes, in natural order of their names. */
typedef struct {
  guint32 n;
  QuoitBlock *blocks;
  guint32 *cubes;     /* slices, by block, and in each block in order */
  guint32 *of_slice;  /* by slice: its block; QUOIT_NO_INDEX: none */
  guint32 *positions; /* by slice: the index of its position in the grid of the block, x fastest; QUOIT_NO_INDEX: not
                       * stated, or stated for two cubes */
  guint32 first_word, end_word; /* the words of @set that have cubes */
  guint64 *set;                 /* one bit per slice: whether it is in a block */
  GStringChunk *names;
} QuoitBlocks;

/* Returns whether slices with these facts are cubes. */
gboolean quoit_slice_facts_are_cube (const QuoitSliceFacts *facts);

/* Returns a reference, which quoit_blocks_unref() releases. @class_index: a class of cubes. */
QuoitBlocks *quoit_blocks_get (const QuoitLayout *layout, guint32 class_index);
void quoit_blocks_unref (QuoitBlocks *blocks);

/* Reads a position such as "1-0-3". Returns FALSE for any other text. */
gboolean quoit_cube_position_parse (const char *text, guint32 position[3]);
/* The label value of a position. The caller owns it. */
char *quoit_cube_position_format (const guint32 position[3]);
