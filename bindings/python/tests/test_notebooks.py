# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: HTML of snapshots, groups and reports, and tables of pandas."""

import html.parser
import json
import sys

import pytest

import quoit

NOW = 1_800_000_000_000
FLEET = "v6e 4x4 x3; v5p 2x2x4 x2 pool=big dead=1.2"


@pytest.fixture
def ledger():
    with quoit.open_memory() as one:
        one.import_fleet_text(FLEET, now_ms=NOW)
        request = quoit.Request(
            name="<b>train",
            accelerator="v6e",
            topology="4x4",
            slices=2,
            owner="ann & bob",
            labels={"team": "<nlp>"},
        )
        one.reserve(request, now_ms=NOW)
        yield one


class Reader(html.parser.HTMLParser):
    """Checks that the elements are nested, and collects the texts of cells."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ("table", "caption", "thead", "tbody", "tr", "th", "td", "p"), tag
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_snapshot_shows_classes_groups_and_problems(ledger):
    page = Reader(ledger.snapshot()._repr_html_())
    assert "<b>train@1" in page.texts and "ann & bob" in page.texts
    assert "fleet/big/big-1" in page.texts and "node big-1-2 is dead" in page.texts
    assert "20: 19 alive, 1 dead" in page.texts


def test_a_group_shows_its_workers(ledger):
    group = ledger.snapshot().lookup_group("<b>train")
    page = Reader(group._repr_html_())
    assert [text for text in page.texts if text.startswith("v6e-4x4-0-")] == [f"v6e-4x4-0-{i}" for i in range(4)]
    assert "team=<nlp>" in page.texts
    bundle = quoit.Request(name="b", bundles=[{"TPU": 4}])
    page = Reader(ledger.reserve(bundle, now_ms=NOW)._repr_html_())
    assert "0,1,2,3" in page.texts and "TPU 4" in page.texts


def test_a_report_shows_reasons_and_options(ledger):
    report = ledger.snapshot().explain(quoit.Request(name="x", accelerator="v6e", topology="4x4", slices=3))
    page = Reader(report._repr_html_())
    assert page.texts[0].startswith("The request: not now") and "release <b>train@1" in page.texts
    assert any("2 of 3 slices are allocated" in text for text in page.texts)


def test_long_lists_are_cut(ledger):
    with quoit.open_memory() as large:
        large.import_fleet_text("v6e 4x4 x100 dead=" + ",".join(f"{i}.0" for i in range(100)), now_ms=NOW)
        page = large.snapshot()._repr_html_()
    assert "and 70 more" in Reader(page).texts and len(page) < 10_000


def test_frames_have_what_the_snapshot_has(ledger):
    pandas = pytest.importorskip("pandas")
    snapshot = ledger.snapshot()
    nodes, slices, groups = snapshot.nodes_frame(), snapshot.slices_frame(), snapshot.groups_frame()
    assert all(isinstance(one, pandas.DataFrame) for one in (nodes, slices, groups))
    assert list(nodes.index) == [node.full_name for node in snapshot.nodes]
    assert nodes.loc["fleet/big/big-1-2", ["state", "slice", "worker_id", "chips"]].tolist() == ["dead", "big-1", 2, 4]
    assert nodes.loc["fleet/v6e-4x4/v6e-4x4-0-0", "groups"] == ("<b>train@1",)
    assert int(nodes["chips"].sum()) == 20 * 4
    assert slices.loc["fleet/big/big-1", "problem"] == "node big-1-2 is dead"
    assert slices["free"].sum() == 2 and slices["intact"].sum() == 4
    assert groups.loc["<b>train@1", ["state", "slices", "workers", "owner"]].tolist() == [
        "reserved",
        2,
        8,
        "ann & bob",
    ]
    assert groups.loc["<b>train@1", "created"] == pandas.Timestamp(NOW, unit="ms", tz="UTC")
    assert pandas.isna(groups.loc["<b>train@1", "ended"])


def test_the_frame_of_nodes_has_the_reasons_of_states():
    pytest.importorskip("pandas")
    nodes = [
        {
            "kind": "Node",
            "metadata": {
                "name": f"node-{host}",
                "labels": {
                    "cloud.google.com/gke-nodepool": "pool",
                    "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                    "cloud.google.com/gke-tpu-topology": "2x4",
                },
            },
            "status": {"capacity": {"google.com/tpu": "4"}, "conditions": [{"type": "Ready", "status": ready}]},
        }
        for host, ready in enumerate(("True", "False"))
    ]
    with quoit.open_memory() as ledger:
        ledger.import_k8s_nodes(json.dumps({"kind": "List", "items": nodes}), now_ms=NOW)
        frame = ledger.snapshot().nodes_frame()
    assert frame[["state", "state_reason"]].values.tolist() == [["alive", ""], ["dead", "NotReady"]]


def test_frames_of_an_empty_ledger_have_their_columns():
    pytest.importorskip("pandas")
    with quoit.open_memory() as empty:
        snapshot = empty.snapshot()
    assert (len(snapshot.nodes_frame()), len(snapshot.slices_frame()), len(snapshot.groups_frame())) == (0, 0, 0)
    assert "chips" in snapshot.nodes_frame().columns


def test_frames_without_pandas_name_what_to_install(ledger, monkeypatch):
    snapshot = ledger.snapshot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    for frame in (snapshot.nodes_frame, snapshot.slices_frame, snapshot.groups_frame):
        with pytest.raises(ImportError, match=r"frame\(\) needs pandas: pip install 'quoit\[pandas\]'"):
            frame()
