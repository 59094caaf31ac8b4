# SPDX-License-Identifier: Apache-2.0
"""The verbs of a ledger for owners and quotas."""

from __future__ import annotations

from . import _c
from ._c import call, ffi, lib
from ._ledger_verbs import LedgerVerbs


class OwnerVerbs(LedgerVerbs):
    """Owners of groups, and quotas of owners and labels."""

    __slots__ = ()

    def set_owner(self, owner: str, *, lease_ms: int = 0, now_ms: int | None = None) -> None:
        """Registers an owner, or replaces the lease of a registered owner. When the lease ends, its groups are freed.

        Args:
            owner: the name that requests give.
            lease_ms: how long the owner lives unless it is renewed; 0: until `end_owner`.

        Raises:
            InvalidError: the name is not valid, or the lease is below 0 or beyond the year 2199.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_set_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def set_quota(
        self,
        name: str,
        chips: int,
        *,
        owner: str | None = None,
        label: str | None = None,
        accelerator: str | None = None,
        topology: str | None = None,
        max_chips: int | None = None,
        cohort: str | None = None,
        now_ms: int | None = None,
    ) -> None:
        """Sets a quota, or replaces the quota of that name: how many chips some groups may use together.

        A quota admits a request if the chips in use, with those of the request, are at most `chips`; or, with a cohort,
        at most `max_chips`, if the cohort has as many unused. Other requests fail with `NotNowError` or `NeverError`.
        Groups keep what they have when a quota is lowered.

        Args:
            name: the name of the quota.
            chips: the nominal chips, 0 to 1,000,000,000.
            owner: the quota is for the groups of this owner. Either this or `label` is required.
            label: the quota is for the groups with this label: "team=nlp".
            accelerator: only chips of this TPU generation count; None: all chips.
            topology: only chips of slices of this topology count; it requires `accelerator`.
            max_chips: the most chips, with borrowed ones, at least `chips`; None: no limit but that of the cohort.
            cohort: the quotas of one cohort and one class lend each other what they do not use.

        Raises:
            InvalidError: a name, number or class is not valid, both or none of `owner` and `label` are given, or
                `max_chips` is more than `chips` without a cohort.
            ConflictError: another quota is for the same groups and the same class.
        """
        handle = self._open()
        arguments = _c.to_quota(name, chips, owner, label, accelerator, topology, max_chips, cohort, now_ms)
        call(lib.quoit_ledger_set_quota, handle, *arguments)

    def remove_quota(self, name: str, *, now_ms: int | None = None) -> None:
        """Removes a quota.

        Raises:
            NotFoundError: there is no quota of that name.
        """
        call(lib.quoit_ledger_remove_quota, self._open(), _c.to_text(name, "name"), _c.clock(now_ms))

    def renew_owner(self, owner: str, lease_ms: int, *, now_ms: int | None = None) -> None:
        """Renews an owner's lease (a heartbeat): the owner lives `lease_ms` (from 1 ms) from now on.

        Raises:
            NotFoundError: the owner was never set.
            ExpiredError: the lease has ended, and the owner's groups are free; `set_owner` starts a new lease.
            ConflictError: the owner has no lease.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_renew_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def end_owner(self, owner: str, *, now_ms: int | None = None) -> int:
        """Frees all groups of an owner, and removes the owner.

        Returns:
            The number of freed groups.

        Raises:
            NotFoundError: the owner was never set and has no groups.
            ExpiredError: the owner's lease has already ended.
        """
        n_groups = ffi.new("uint32_t *")
        call(lib.quoit_ledger_end_owner, self._open(), _c.to_text(owner, "owner"), _c.clock(now_ms), n_groups)
        return int(n_groups[0])
