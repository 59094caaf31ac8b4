/* SPDX-License-Identifier: Apache-2.0 */
/* Where the chips, hosts and JAX devices of a slice are on its torus, and how many links are between them. Facts of a
 * topology alone: no fleet, no database. */
#ifndef QUOIT_COORDINATES_H
#define QUOIT_COORDINATES_H

#include <stdbool.h>

#include <quoit/catalogue.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitCoordinates:
 *
 * The torus of one topology. Immutable; any thread may read it.
 *
 * Chips, hosts and JAX devices are numbered x first, as JAX and GKE do: chip 1 is one further along x than chip 0; when
 * x is through comes the next y, and then the next z. A host's number is its worker id. The devices of a chip follow
 * each other. (Ray 2.60 reads grids of sub-slices the other way round: that is quoit/models/ray-subslices.h, and no
 * place on a torus.) A topology of two dimensions has a z of length 1.
 *
 * Since: 0.1
 */
typedef struct _QuoitCoordinates QuoitCoordinates;

/**
 * QuoitDirection:
 *
 * Which way along an axis.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_DIRECTION_UP = 1, QUOIT_DIRECTION_DOWN = 2 } QuoitDirection;

/**
 * QuoitWiring:
 *
 * How the links that close the axes are laid.
 *
 * %QUOIT_WIRING_STRAIGHT: each comes out where it began, on the other end of its axis. GKE announces nothing else.
 *
 * %QUOIT_WIRING_TWISTED: those of the short axes come out half way along the long ones, k of 2k further; which only k k
 * 2k and k 2k 2k can have (see %QUOIT_TOPOLOGY_NUMBER_TWISTABLE).
 *
 * Since: 0.1
 */
typedef enum { QUOIT_WIRING_STRAIGHT = 1, QUOIT_WIRING_TWISTED = 2 } QuoitWiring;

/**
 * quoit_coordinates_new:
 * @accelerator: any system's name of the generation: "v6e", "TPU-V5LITEPOD"
 * @topology: "4x4", "2x2x4"
 * @chips_per_host: the chips of each host; 0 for what Ray assumes, as in quoit_catalogue_lookup_topology()
 * @wiring: how the axes close
 * @error: (out) (optional): set on failure
 *
 * The torus of a slice of that topology on such hosts, as the catalogue has it. It costs the same for any size.
 *
 * Fails with %QUOIT_ERROR_INVALID when nobody calls a generation so, when @topology is none of it (the message has the
 * byte, or names the nearest) or is never built of such hosts, when it cannot be twisted, and for a wiring that this
 * version does not know.
 *
 * Returns: (transfer full): the torus; quoit_coordinates_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitCoordinates *quoit_coordinates_new (const char *accelerator, const char *topology,
                                                   unsigned chips_per_host, QuoitWiring wiring, GError **error);

/**
 * quoit_coordinates_free:
 * @coordinates: (nullable): the torus
 *
 * Since: 0.1
 */
QUOIT_API void quoit_coordinates_free (QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_chips:
 * @coordinates: the torus
 *
 * Returns: its chips; their numbers are 0 to n - 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_chips (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_hosts:
 * @coordinates: the torus
 *
 * Returns: its hosts; their worker ids are 0 to n - 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_hosts (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_devices:
 * @coordinates: the torus
 *
 * Every chip has as many as the others: one, or two where JAX sees each core.
 *
 * Returns: what JAX calls devices; their ids in the slice are 0 to n - 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_devices (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_length:
 * @coordinates: the torus
 * @axis: an axis
 *
 * Returns: how many chips it has along @axis
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_length (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_get_host_length:
 * @coordinates: the torus
 * @axis: an axis
 *
 * The chips of a host are a block: 2 by 2 for four chips, 2 by 4 for eight.
 *
 * Returns: how many chips a host has along @axis
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_host_length (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_is_ring:
 * @coordinates: the torus
 * @axis: an axis
 *
 * Returns: whether links join the two ends of @axis; else it is a line
 * Since: 0.1
 */
QUOIT_API bool quoit_coordinates_is_ring (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_get_twist:
 * @coordinates: the torus
 * @axis: the axis that a link closes
 * @along: another axis
 *
 * Returns: how many chips further along @along that link comes out; 0: it does not, as without a twist
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_twist (const QuoitCoordinates *coordinates, QuoitAxis axis, QuoitAxis along);

/**
 * quoit_coordinates_get_chip_at:
 * @coordinates: the torus
 * @chip: below quoit_coordinates_get_n_chips()
 * @axis: an axis
 *
 * Returns: where @chip is on @axis, from 0
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_at (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis);

/**
 * quoit_coordinates_find_chip:
 * @coordinates: the torus
 * @x: along x, from 0
 * @y: along y
 * @z: along z; 0 where there are two dimensions
 *
 * Returns: the number of the chip there; -1: that is beyond an end
 * Since: 0.1
 */
QUOIT_API int64_t quoit_coordinates_find_chip (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y, uint32_t z);

/**
 * quoit_coordinates_get_worker_at:
 * @coordinates: the torus
 * @worker_id: below quoit_coordinates_get_n_hosts()
 * @axis: an axis
 *
 * Its first chip is quoit_coordinates_get_host_length() times as far.
 *
 * Returns: where the host is on @axis, counted in hosts, from 0
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_worker_at (const QuoitCoordinates *coordinates, uint32_t worker_id,
                                                    QuoitAxis axis);

/**
 * quoit_coordinates_find_worker:
 * @coordinates: the torus
 * @x: along x, counted in hosts, from 0
 * @y: along y
 * @z: along z; 0 where there are two dimensions
 *
 * Returns: the worker id of the host there; -1: that is beyond an end
 * Since: 0.1
 */
QUOIT_API int64_t quoit_coordinates_find_worker (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y,
                                                 uint32_t z);

/**
 * quoit_coordinates_get_chip_worker:
 * @coordinates: the torus
 * @chip: below quoit_coordinates_get_n_chips()
 *
 * Returns: the worker id of the host that has @chip
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_worker (const QuoitCoordinates *coordinates, uint32_t chip);

/**
 * quoit_coordinates_get_chip_local:
 * @coordinates: the torus
 * @chip: below quoit_coordinates_get_n_chips()
 *
 * The number that libtpu, Ray and bundles know a chip by: column by column in each square of four chips, one square
 * after the other along y. So chips 0 and 1 are beside each other along y, as JAX's bounds of 1,2,1 have them.
 *
 * Returns: its number among the chips of its host
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_local (const QuoitCoordinates *coordinates, uint32_t chip);

/**
 * quoit_coordinates_get_worker_chip:
 * @coordinates: the torus
 * @worker_id: below quoit_coordinates_get_n_hosts()
 * @local: number among the host's chips, below quoit_coordinates_get_n_chips() / quoit_coordinates_get_n_hosts()
 *
 * Returns: the number of that chip in the slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_worker_chip (const QuoitCoordinates *coordinates, uint32_t worker_id,
                                                      uint32_t local);

/**
 * quoit_coordinates_get_device_chip:
 * @coordinates: the torus
 * @device: below quoit_coordinates_get_n_devices()
 *
 * Returns: the chip that the JAX device is on
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_device_chip (const QuoitCoordinates *coordinates, uint32_t device);

/**
 * quoit_coordinates_get_chip_device:
 * @coordinates: the torus
 * @chip: below quoit_coordinates_get_n_chips()
 * @core: below quoit_coordinates_get_n_devices() / quoit_coordinates_get_n_chips()
 *
 * Returns: the id of that JAX device, in the slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_device (const QuoitCoordinates *coordinates, uint32_t chip,
                                                      uint32_t core);

/**
 * quoit_coordinates_find_neighbour:
 * @coordinates: the torus
 * @chip: below quoit_coordinates_get_n_chips()
 * @axis: an axis
 * @direction: which way along it
 *
 * The chip at the other end of that link of @chip: one further, or behind the link that closes the ring.
 *
 * Returns: its number; -1: there is no such link
 * Since: 0.1
 */
QUOIT_API int64_t quoit_coordinates_find_neighbour (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis,
                                                    QuoitDirection direction);

/**
 * quoit_coordinates_get_hops:
 * @coordinates: the torus
 * @from: a chip, below quoit_coordinates_get_n_chips()
 * @to: another, or the same
 *
 * Returns: the links of a shortest way between them
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_hops (const QuoitCoordinates *coordinates, uint32_t from, uint32_t to);

/**
 * quoit_coordinates_get_bisection:
 * @coordinates: the torus
 *
 * A cut halves an axis, and with it the slice. What it severs is the links that traffic between the halves has.
 *
 * Returns: the links severed by the cut that severs the fewest; 0 for a single chip
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_coordinates_get_bisection (const QuoitCoordinates *coordinates);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitCoordinates, quoit_coordinates_free)

G_END_DECLS

#endif
