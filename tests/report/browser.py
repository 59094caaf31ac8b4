# SPDX-License-Identifier: Apache-2.0
"""browser.py CHROMIUM FOLDER AXE [PICTURES]: uses the pages of fleets.sh in a browser, with the keyboard.

AXE is the file of axe-core, which may be missing. With PICTURES, writes a picture of each page to that folder.
"""

import os
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

passed = failed = 0


def check(sentence, value, expected=True):
    global passed, failed
    if value == expected:
        passed += 1
    else:
        failed += 1
        print(f"FAIL: {sentence}\n      is {value!r}, expected {expected!r}")


class Page:
    """A page in a window of its own. Whatever it logs or loads is a failure."""

    def __init__(self, browser, folder, name, scheme, size=(1440, 900)):
        self.name, self.complaints, self.requests = f"{name}, {scheme}", [], []
        self.page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        began = time.monotonic()
        self.page.goto(f"file://{folder}/{name}.html")
        self.page.wait_for_selector("#count:not(:empty)")
        self.seconds = time.monotonic() - began

    def run(self, script):
        return self.page.evaluate(script)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focus_name(self):
        """The name of the element with the focus; of a slice, what a screen reader reads."""
        return self.run("(document.activeElement.querySelector('.heard') || document.activeElement).textContent")

    def check_axe(self, axe, where):
        if not os.path.exists(axe):
            return
        if not self.run("'axe' in window"):
            # The policy of the page refuses scripts of others, but not those of the debugger.
            self.run(Path(axe).read_text(encoding="utf-8") + "\n;0")
        found = self.run("""axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
            .then((result) => result.violations.map((rule) => rule.id + ': ' + rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 120) + ' ' + node.failureSummary).join(' | ')))""")
        check(f"{self.name}: {where} keeps the rules of WCAG", found, [])

    def close(self):
        check(f"{self.name}: nothing is logged", self.complaints, [])
        check(f"{self.name}: only the file is read", len(self.requests), 1)
        self.page.close()


def check_names(page):
    """The parts of a page by role and name, as a screen reader finds them."""
    roles = page.page
    for name in "Fleet", "Problems", "Groups", "Slots", "Timeline", "Fragmentation", "Slices":
        check(f"{page.name}: region {name}", roles.get_by_role("region", name=name, exact=True).count(), 1)
        check(f"{page.name}: heading {name}", roles.get_by_role("heading", name=name, exact=True, level=2).count(), 1)
    for role in "banner", "main", "contentinfo":
        check(f"{page.name}: landmark {role}", roles.get_by_role(role).count(), 1)
    check(f"{page.name}: one heading of level 1", roles.get_by_role("heading", level=1).count(), 1)
    check(f"{page.name}: the filter has a name", roles.get_by_role("searchbox", name="Filter").count(), 1)
    check(
        f"{page.name}: headers of tables have a scope",
        page.run("[...document.querySelectorAll('th')].every((cell) => cell.scope !== '')"),
    )
    check(
        f"{page.name}: tables have captions",
        page.run("[...document.querySelectorAll('table')].every((table) => table.caption !== null)"),
    )


def check_keys(page):
    """The page of 220 slices, without a mouse."""
    page.press("Tab")
    check("the first stop skips to the map", page.focus_name(), "Skip to the map")
    page.press("Enter")
    check("it goes there", page.run("document.activeElement.id"), "map-heading")
    page.press("Tab")
    check("the filter is next", page.run("document.activeElement.id"), "filter")
    page.press("Tab", "Tab", "Tab")
    check("the map is one stop", page.focus_name().split(",")[0], "big-0")
    page.press("ArrowRight", "ArrowRight", "ArrowLeft")
    check("arrows move", page.focus_name().split(",")[0], "big-1")
    check(
        "only one slice is a stop", page.run("document.querySelectorAll('[role=gridcell][tabindex=\"0\"]').length"), 1
    )
    check("the focus is visible", page.run("getComputedStyle(document.activeElement).outlineStyle"), "solid")
    page.press("End")
    check("End is the last slice", page.focus_name().split(",")[0], "train-119")
    page.press("ArrowRight", "ArrowDown")
    check("there is nothing behind it", page.focus_name().split(",")[0], "train-119")
    page.press("ArrowUp")
    above = page.focus_name().split(",")[0]
    check("up is another row", above.startswith("train-") and above != "train-119" and above != "train-118")
    page.press("Home")
    check("Home is the first slice", page.focus_name().split(",")[0], "big-0")
    page.press("ArrowDown", "Enter")
    below = page.run("document.getElementById('details-heading').textContent")
    check("Enter opens a slice", page.page.get_by_role("dialog").count(), 1)
    check("it is the one with the focus", page.run(f"document.activeElement.textContent === {below!r}"))
    check("its hosts are a table", page.page.get_by_role("dialog").get_by_role("row").count(), 5)
    page.press("Escape")
    check("Escape closes it", page.page.get_by_role("dialog").count(), 0)
    check("the focus is back", page.focus_name().split(",")[0], below)
    page.page.focus("#filter")
    page.page.keyboard.type("pretrain-6 DEGRADED")
    check("the filter counts", page.run("document.getElementById('count').textContent"), "1 of 220 slices")
    check(
        "the map has that slice",
        page.run("[...document.querySelectorAll('[role=gridcell]')].map((cell) => cell.dataset.slice).length"),
        1,
    )
    check("the table has it", page.run("document.querySelector('#slices tbody').rows.length"), 1)
    page.press("Tab", "Tab", "Tab", "Enter")
    check("its details have the problem", "dead" in page.run("document.getElementById('details-body').textContent"))
    check(
        "and each host with its state",
        page.run("[...document.querySelectorAll('#details-body tbody tr')].map((row) => row.cells[2].textContent)"),
        ["dead"] + ["used by pretrain-6@6"] * 3,
    )
    page.press("Escape")
    page.page.focus("#filter")
    page.press("Escape")
    check("Escape ends the filter", page.run("document.getElementById('count').textContent"), "220 of 220 slices")
    page.page.keyboard.type("no such slice")
    check(
        "nothing is found",
        page.run("[document.getElementById('count').textContent, document.querySelectorAll('[role=gridcell]').length]"),
        ["0 of 220 slices", 0],
    )
    page.press("Tab", "Escape")
    page.page.fill("#filter", "")
    page.page.get_by_role("button", name="train-61", exact=True).first.press("Enter")
    check("a problem opens its slice", page.run("document.getElementById('details-heading').textContent"), "train-61")
    page.press("Escape")
    check("the focus is at the problem", page.focus_name(), "train-61")


def check_themes(page):
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.run(background)
    button = page.page.locator("#theme")
    pressed = button.get_attribute("aria-pressed")
    button.press("Enter")
    check(f"{page.name}: the button changes the theme", page.run(background) != before)
    check(f"{page.name}: and its state", button.get_attribute("aria-pressed") != pressed)
    button.press("Enter")
    check(f"{page.name}: and back", page.run(background), before)


def check_fit(page):
    """All slices are on the screen, inside the map and the window."""
    seen = page.run("""(() => {
        const grid = document.getElementById('grid').getBoundingClientRect();
        return [...document.querySelectorAll('[role=gridcell]')].map((cell) => cell.getBoundingClientRect())
            .filter((box) => box.top >= grid.top && box.bottom <= grid.bottom && box.right <= grid.right && box.bottom <= innerHeight).length;
    })()""")
    check("220 slices fit on one screen", seen, 220)
    check("with the number of each host", page.run("document.querySelectorAll('.slice svg text').length") > 700)
    check("the page is not wider than the window", page.run("document.documentElement.scrollWidth <= innerWidth"))
    forms = page.run("""Object.fromEntries([...'.Aa+~#?'].map((symbol) => [symbol, [...drawHosts({kind: {width: 1, height: 1, at: [[0, 0]]},
        hosts: symbol, users: ['x']}, 20).querySelectorAll('path')].map((path) => path.getAttribute('d') + (path.classList.contains('missing') ? ' dashed' : '')
        + (/^g/.test(path.getAttribute('class')) ? ' filled' : '')).join()]))""")
    check("each state has a form of its own", len(set(forms.values())), 7)


def check_large(page):
    check("25,000 slices open within 5 seconds", page.seconds < 5)
    check("only what is near the view is drawn", page.run("document.querySelectorAll('[role=gridcell]').length") < 6000)
    check("the slices are in a table too", page.run("document.querySelector('#slices tbody').rows.length"), 25)
    page.page.focus("[role=gridcell][tabindex='0']")
    began = time.monotonic()
    page.press("End")
    check("End is the last slice", page.focus_name().split(",")[0], "train-11999")
    check(
        "it is in the view",
        page.run("""(() => { const box = document.activeElement.getBoundingClientRect(), grid = document.getElementById('grid').getBoundingClientRect();
        return box.top >= grid.top && box.bottom <= grid.bottom; })()"""),
    )
    page.press(*["PageUp"] * 20)
    page.press("ArrowUp", "ArrowRight", "Home")
    check("and back", page.focus_name().split(",")[0], "big-0")
    check("keys take no time", time.monotonic() - began < 10)
    began = time.monotonic()
    for part in range(21):
        page.run(f"document.getElementById('grid').scrollTop = (total - 700) * {part} / 20")
        page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        check(
            "rows are drawn where it scrolls",
            page.run("""(() => { const grid = document.getElementById('grid').getBoundingClientRect();
            return [-12, 0, 12].some((by) => document.elementsFromPoint(grid.left + 30, grid.top + grid.height / 2 + by).some((found) => found.getAttribute('role') === 'row')); })()"""),
        )
    check("scrolling takes no time", time.monotonic() - began < 10)
    check("old rows are gone", page.run("document.querySelectorAll('[role=gridcell]').length") < 6000)
    page.page.fill("#filter", "train-11999")
    check(
        "the filter finds one of them",
        page.run("document.getElementById('count').textContent"),
        "1 of 25\u202f000 slices",
    )
    page.page.fill("#filter", "")


def main():
    chromium, folder, axe, *pictures = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in "fleet-2", "fleet-220", "fleet-25000", "evil", "hidden":
            for scheme in "light", "dark":
                page = Page(browser, folder, name, scheme)
                if pictures and name.startswith("fleet-"):
                    page.page.screenshot(path=f"{pictures[0]}/{name}-{scheme}.png")
                check_names(page)
                check_themes(page)
                page.check_axe(axe, "the page")
                if name == "fleet-220" and scheme == "light":
                    check_fit(page)
                    fresh = Page(browser, folder, name, scheme)
                    check_keys(fresh)
                    fresh.close()
                if name == "fleet-25000" and scheme == "light":
                    check_large(page)
                page.page.locator("[role=gridcell][tabindex='0']").press("Enter")
                page.page.evaluate("[...document.querySelectorAll('details')].forEach((part) => { part.open = true; })")
                page.page.wait_for_timeout(100)
                page.check_axe(axe, "a slice")
                if name == "evil":
                    check("a name stays text", page.run("document.querySelectorAll('img').length"), 0)
                    check("and is shown", page.run("document.title"), "</script><img src=x onerror=alert(1)>")
                if name == "hidden":
                    nodes = page.page.locator("#details-body tbody td:nth-child(2)").all_text_contents()
                    check("hidden characters are bytes", nodes, ["a\\x0ab", "c\\xe2\\x80\\xaed", "e", "f\\x01"])
                page.close()
        for width in 360, 800:
            page = Page(browser, folder, "fleet-220", "light", (width, 900))
            check(f"the page fits into {width} pixels", page.run("document.documentElement.scrollWidth <= innerWidth"))
            page.close()
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
