// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

// requestList has the requests of one call that reserves several groups, and the groups that it sets.
type requestList struct {
	n        C.uint32_t
	requests **C.QuoitRequest
	groups   **C.QuoitGroup
	kept     []*C.QuoitRequest // requests points to its first element
	made     []*C.QuoitGroup   // groups points to its first element
}

// newRequestList converts the requests. The caller frees the list.
func newRequestList(requests []*Request) (*requestList, error) {
	// One element more, so that an empty list has a first element too.
	list := &requestList{
		n:    C.uint32_t(len(requests)),
		kept: make([]*C.QuoitRequest, len(requests)+1),
		made: make([]*C.QuoitGroup, len(requests)+1),
	}
	for index, request := range requests {
		c, err := request.toC()
		if err != nil {
			list.free()
			return nil, err
		}
		list.kept[index] = c
	}
	list.requests, list.groups = &list.kept[0], &list.made[0]
	return list, nil
}

func (l *requestList) free() {
	for _, request := range l.kept {
		C.quoit_request_free(request)
	}
}

func (l *requestList) groupsOrError(err error) ([]*Group, error) {
	if err != nil {
		return nil, err
	}
	groups := make([]*Group, l.n)
	for index := range groups {
		groups[index] = newGroup(l.made[index])
	}
	return groups, nil
}
