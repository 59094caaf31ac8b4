#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many jobs still fit after hosts have failed? A sweep asks thousands of times, with other hosts each time.

    sweep.py [--on here|processes|ray] [--out FOLDER] [--draws N] [--plots FOLDER]

Each job needs 4 slices of v6e 4x4. The fleet has 16 pools with 8 slices each. Half of the cases accept slices of any
pools, the other half need all slices of a job in one pool. `--plots` writes two plots as SVG; docs/sweeps.md shows them.
"""

import argparse
import pathlib

import quoit

POOLS, SLICES, HOSTS = 16, 8, 4
NOW = 1_800_000_000_000
DEAD = range(0, 129, 8)


def fit_jobs(fork, case, random):
    """The scenario: kills hosts, and then reserves slices for jobs until no other job fits."""
    hosts = [f"pool-{pool}-{slice}-{host}" for pool in range(POOLS) for slice in range(SLICES) for host in range(HOSTS)]
    fork.set_node_states(random.sample(hosts, case["dead"]), quoit.NodeState.DEAD)
    keep_to = quoit.Domain.POOL if case["one_pool"] else None
    jobs = 0
    try:
        while True:
            wanted = quoit.Request(f"job-{jobs}", accelerator="v6e", topology="4x4", slices=4, keep_to=keep_to)
            fork.reserve(wanted)
            jobs += 1
    except quoit.NotNowError:
        return {"jobs": jobs, "free": fork.snapshot().classes[0].counts[quoit.SliceFlags.FREE]}


def make_snapshot():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("; ".join(f"v6e 4x4 x{SLICES} pool=pool-{pool}" for pool in range(POOLS)), now_ms=NOW)
        return ledger.snapshot()


def make_cases(n_draws):
    return [{"dead": dead, "one_pool": one} for one in (False, True) for dead in DEAD for _ in range(n_draws)]


# --- tables and plots -----------------------------------------------------------------------------------------------


def jobs_by_dead(sweep, one_pool):
    """The numbers of jobs, sorted, for each number of dead hosts."""
    found = {dead: [] for dead in DEAD}
    for case, result in zip(sweep.cases, sweep):
        if case["one_pool"] == one_pool:
            found[case["dead"]].append(result["jobs"])
    return {dead: sorted(jobs) for dead, jobs in found.items()}


def print_table(sweep):
    print("dead hosts   jobs in any pools       jobs in one pool each")
    print("             mean   5 % to 95 %      mean   5 % to 95 %")
    tables = [jobs_by_dead(sweep, one_pool) for one_pool in (False, True)]
    for dead in DEAD:
        parts = []
        for table in tables:
            jobs = table[dead]
            parts.append(f"{sum(jobs) / len(jobs):6.2f}   {quantile(jobs, 0.05):2d} to {quantile(jobs, 0.95):2d}      ")
        print(f"{dead:10d}  {'     '.join(parts)}".rstrip())


def quantile(ordered, share):
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def write_plots(sweep, folder):
    series = []
    for one_pool, color, name in ((False, "#1a73e8", "slices of any pools"), (True, "#d93025", "slices of one pool")):
        table = jobs_by_dead(sweep, one_pool)
        line = [(dead, sum(jobs) / len(jobs)) for dead, jobs in table.items()]
        band = [(dead, quantile(jobs, 0.05), quantile(jobs, 0.95)) for dead, jobs in table.items()]
        series.append((name, color, line, band))
    text = svg("Jobs of 4 slices that fit: mean, and 5 % to 95 % of the draws", "dead hosts of 512", "jobs", 32, series)
    (folder / "sweep-jobs.svg").write_text(text)

    table = jobs_by_dead(sweep, True)
    series = [
        (
            f"{least} jobs",
            color,
            [(dead, sum(one >= least for one in jobs) / len(jobs)) for dead, jobs in table.items()],
            [],
        )
        for least, color in ((24, "#188038"), (20, "#e37400"), (16, "#9334e6"), (12, "#d93025"))
    ]
    title = "Share of draws in which so many jobs fit, each in one pool"
    (folder / "sweep-share.svg").write_text(svg(title, "dead hosts of 512", "share of draws", 1, series))


def svg(title, x_name, y_name, y_most, series):
    """Returns a plot of lines, each with an optional band of (x, least, most)."""
    width, height, left, top, right, bottom = 640, 360, 56, 40, 20, 48

    def place(x, y):
        across = (width - left - right) * x / DEAD[-1]
        return f"{left + across:.1f},{height - bottom - (height - top - bottom) * y / y_most:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="22" font-size="14">{title}</text>',
        f'<text x="{(left + width - right) / 2:.0f}" y="{height - 10}" text-anchor="middle">{x_name}</text>',
        f'<text transform="translate(14 {(top + height - bottom) / 2:.0f}) rotate(-90)" text-anchor="middle">{y_name}</text>',
    ]
    for tick in range(5):
        value = y_most * tick / 4
        x, y = place(0, value).split(",")
        parts.append(f'<path d="M{x},{y} H{width - right}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for tick in range(0, DEAD[-1] + 1, 32):
        x, y = place(tick, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18:.1f}" text-anchor="middle">{tick}</text>')
    for _, color, _, band in series:
        if band:
            around = [place(x, y) for x, y, _ in band] + [place(x, y) for x, _, y in reversed(band)]
            parts.append(f'<polygon points="{" ".join(around)}" fill="{color}" opacity="0.15"/>')
    for number, (name, color, line, _) in enumerate(series):
        points = " ".join(place(x, y) for x, y in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        y = top + 14 + 18 * number
        parts.append(f'<path d="M{width - 190},{y - 4} h24" stroke="{color}" stroke-width="2"/>')
        parts.append(f'<text x="{width - 160}" y="{y}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="how many jobs still fit after hosts have failed")
    parser.add_argument("--on", choices=["here", "processes", "ray"], default="processes", help="where the cases run")
    parser.add_argument("--out", help="a folder for the results, from which an interrupted sweep continues")
    parser.add_argument("--draws", type=int, default=40, help="how often each question is asked (40)")
    parser.add_argument("--plots", type=pathlib.Path, help="an existing folder for two plots")
    options = parser.parse_args()
    sweep = quoit.sweep(make_snapshot(), fit_jobs, make_cases(options.draws), seed=1, on=options.on, out=options.out)
    print_table(sweep)
    if options.plots is not None:
        write_plots(sweep, options.plots)


if __name__ == "__main__":
    main()
