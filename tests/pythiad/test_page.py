#!/usr/bin/env python3
"""The page of pythiad in a real Chromium. usage: test_page.py BIN [SANITIZER]; PYTHIA_SCREENSHOTS: a folder for pictures"""
import os
import unittest

import browser
import rig
from test_control import Agent

HOSTILE = "<img src=x onerror=console.log(1)><script>console.log(2)</script>"


@unittest.skipUnless(browser.find(), "chromium is not installed")
class Page(unittest.TestCase):
    """Each test has a pythiad that knows three trace points, and a browser that shows its page."""

    def setUp(self):
        self.pythiad = rig.Pythiad(self, "--quiet-ms=50")
        self.agent = Agent(self.pythiad, "shop", ["a", "b", HOSTILE])
        self.agent.report()
        rig.until(lambda: len(self.pythiad.get("/v1/points").json) == 3, 10)
        self.browser = browser.Browser(self)
        self.browser.open(f"http://127.0.0.1:{self.pythiad.control}/")

    def update(self):
        """Let the page fetch now, as when somebody turns to its tab."""
        self.browser.run("document.dispatchEvent(new Event('visibilitychange'))")

    def shows(self, text):
        def look():
            self.update()
            return text in self.browser.run("document.body.innerText")
        rig.until(look, 30)

    def test_an_update_shows_what_is_new_and_keeps_details_focus_and_scroll(self):
        run = self.browser.run
        self.assertEqual(self.pythiad.post("/v1/off").status, 200)
        self.shows("3 trace points are closed")
        run("window.details = document.querySelector('details'); details.open = true;"
            "document.documentElement.style.minHeight = '5000px'; document.querySelector('summary').focus(); scrollTo(0, 123)")
        Agent(self.pythiad, "another", ["x"]).report()
        self.shows("4 trace points are closed")
        # As when a point is opened: a table now stands before the closed ones.
        text = run("show(new DOMParser().parseFromString(document.documentElement.outerHTML.replace('<p>None is open.</p>',"
            "'<table><tbody><tr><th scope=row>open now</th></tr></tbody></table>'), 'text/html')); document.body.innerText")
        self.assertIn("open now", text)
        self.assertTrue(run("details.isConnected && details.open"))
        self.assertEqual(run("document.activeElement.localName"), "summary")
        self.assertEqual(run("scrollY"), 123)

    def test_a_row_stays_the_same_element_when_another_comes_before_it(self):
        self.browser.run("window.row = [...document.querySelectorAll('#points tr')].find("
                         "row => row.textContent.includes('shop:b'))")
        Agent(self.pythiad, "another", ["x"]).report()
        self.shows("another:x")
        self.assertTrue(self.browser.run("row.isConnected && row.textContent.includes('shop:b')"))

    def test_hostile_names_stay_text(self):
        Agent(self.pythiad, "another", [HOSTILE]).report()
        self.shows("another:" + HOSTILE)
        self.assertEqual(self.browser.run("document.querySelectorAll('body script, img').length"), 0)
        self.assertEqual(self.browser.messages, [])

    def test_the_policy_refuses_a_script_in_the_markup(self):
        self.browser.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))")
        self.assertIsNone(self.browser.run("window.ran"))

    def test_it_says_so_when_pythiad_is_gone(self):
        self.assertTrue(self.browser.run("document.querySelector('[role=status]').hidden"))
        self.pythiad.stop()

        def says():
            self.update()
            return self.browser.run("document.querySelector('[role=status]').innerText")
        self.assertIn("does not answer", rig.until(says, 30))

    def test_no_width_needs_a_horizontal_scroll_bar(self):
        folder = os.environ.get("PYTHIA_SCREENSHOTS")
        for width in (320, 1280, 3840):
            for dark in (False, True):
                self.browser.look(width, dark)
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
                if folder:
                    self.browser.screenshot(os.path.join(folder, f"page-{width}-{'dark' if dark else 'light'}.png"))


if __name__ == "__main__":
    rig.main()
