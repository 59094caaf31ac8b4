# SPDX-License-Identifier: Apache-2.0
"""quoit.plot draws what snapshots and the journal have. The tests read the pictures' artists and draw them to a file."""

import sys

import pytest

import quoit
import quoit.plot

NOW = 1777627200000
FLEET = "v6e 4x4 x6 pool=a; v5p 2x2x4 x2 pool=b dead=1.0; v5e 2x4 x1 pool=c draining=0.0"


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture
def ledger():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        for name, time_ms in ("train", NOW + 1000), ("eval", NOW + 2000):
            request = quoit.Request(name=name, accelerator="v6e", topology="4x4", slices=2)
            ledger.reserve(request, now_ms=time_ms)
        ledger.release("eval", now_ms=NOW + 5000)
        yield ledger


def labels(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def test_fleet_counts_the_slices_of_each_pool(pyplot, ledger, tmp_path):
    axes = quoit.plot.fleet(ledger.snapshot())
    bars = {container.get_label(): [bar.get_width() for bar in container] for container in axes.containers}
    axes.figure.savefig(tmp_path / "fleet.png")
    assert bars == {"free": [4, 1, 0], "held": [2, 0, 0], "draining": [0, 0, 1], "degraded": [0, 1, 0]}
    assert labels(axes) == ["fleet/a", "fleet/b", "fleet/c"]
    assert (tmp_path / "fleet.png").stat().st_size > 5000


def test_timeline_has_begins_and_ends(pyplot, ledger, tmp_path):
    axes = quoit.plot.timeline(ledger)
    axes.figure.savefig(tmp_path / "timeline.svg")
    seconds = [round(bar.get_width() * 86400) for container in axes.containers for bar in container]
    assert labels(axes) == ["eval@2", "train@1"]
    assert seconds == [3, 4]
    assert len(quoit.plot.timeline(ledger, most=1).containers) == 1


def test_fragmentation_is_that_of_snapshots(pyplot, ledger, tmp_path):
    axes = quoit.plot.fragmentation(ledger)
    axes.figure.savefig(tmp_path / "fragmentation.png")
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    now = ledger.snapshot()
    measured = {
        f"{one.accelerator} {one.topology}": value.least_ppm / 1e6
        for one, value in zip(now.classes, now.measure_fragmentation())
        if value.free_hosts > 0
    }
    assert {name: values[-1] for name, values in lines.items()} == measured
    assert all(len(values) == now.seq for values in lines.values())


def test_each_entry_is_measured_at_most_once(pyplot, ledger):
    few, many = (quoit.plot.fragmentation(ledger, samples=samples).lines[0] for samples in (2, 2**32 - 1))
    assert len(few.get_xdata()) == 2 and len(many.get_xdata()) == ledger.snapshot().seq


def test_given_axes_are_used(pyplot, ledger):
    _, axes = pyplot.subplots(3)
    assert quoit.plot.fleet(ledger.snapshot(), axes=axes[0]) is axes[0]
    assert quoit.plot.timeline(ledger, axes=axes[1]) is axes[1]
    assert quoit.plot.fragmentation(ledger, axes=axes[2]) is axes[2]
    assert len(pyplot.get_fignums()) == 1


def test_an_empty_ledger_has_empty_pictures(pyplot, tmp_path):
    with quoit.open_memory() as ledger:
        for axes in quoit.plot.fleet(ledger.snapshot()), quoit.plot.timeline(ledger), quoit.plot.fragmentation(ledger):
            axes.figure.savefig(tmp_path / "empty.png")
            assert not axes.patches and not axes.lines


def test_names_are_no_mathematics(pyplot, tmp_path):
    with quoit.open_memory() as ledger, pyplot.rc_context({"svg.fonttype": "none"}):
        ledger.import_fleet_text("v6e 4x4 x1", source="$\\frac{$", now_ms=NOW)
        ledger.reserve(quoit.Request(name="$x^$", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
        for axes, name in (quoit.plot.fleet(ledger.snapshot()), "$\\frac{$/"), (quoit.plot.timeline(ledger), "$x^$@1"):
            axes.figure.savefig(tmp_path / "names.svg")
            assert f">{name}" in (tmp_path / "names.svg").read_text(encoding="utf-8")


def test_more_samples_than_entries_are_as_many_as_entries(pyplot, ledger):
    lines = [quoit.plot.fragmentation(ledger, samples=n).lines for n in (4, 100, 2**32 - 1)]
    assert [[list(line.get_ydata()) for line in one] for one in lines[1:]] == [
        [list(line.get_ydata()) for line in lines[0]]
    ] * 2


@pytest.mark.parametrize("draw", [quoit.plot.timeline, quoit.plot.fragmentation])
def test_a_journal_that_is_compacted_meanwhile_is_read_again(pyplot, ledger, monkeypatch, draw):
    read = quoit.Ledger.read_checkpoint

    def read_and_compact(self):
        found = read(self)
        if found is None:
            self.compact_journal(self.snapshot().seq, now_ms=NOW + 5000)
        return found

    monkeypatch.setattr(quoit.Ledger, "read_checkpoint", read_and_compact)
    assert draw(ledger).get_xlabel() == "time (UTC)"
    assert read(ledger).seq == 3


def test_one_sample_is_refused(pyplot, ledger):
    with pytest.raises(quoit.InvalidError, match="samples 1: expected 2 or more"):
        quoit.plot.fragmentation(ledger, samples=1)


def test_pictures_without_matplotlib_name_what_to_install(ledger, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"quoit.plot.fleet\(\) needs matplotlib: pip install 'quoit\[plot\]'"):
        quoit.plot.fleet(ledger.snapshot())
