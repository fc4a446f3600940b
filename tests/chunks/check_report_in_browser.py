#!/usr/bin/env python3
"""Whether a report can be read in a browser. Usage: check_report_in_browser.py PAGE [FOLDER_FOR_PICTURES]

Opens the page in Chromium without a window, in several widths, light and dark. Exit code 77: no Chromium.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 1280, 1366, 1501, 1600)
FOLDED = 1500  # columns of lesser importance are hidden up to this width
SCHEMES = ("light", "dark")
# What the page must show, each as a CSS selector: of chunks, and of shared pages.
PAGE_ELEMENTS = ("h1", "#command code", "#slow", "#strips .strip svg", ".axis p span", "#locks td", "#memory td", "#homes svg",
                 "#moved td", "#waits td", ".key span")
ELEMENTS = ("h1", "#command code", "#slow", "#nodes tr:nth-child(2) td", "#chunks tr:nth-child(2) td", "#meetings td",
            "#streams td", ".key span", "svg polyline", "svg polygon title", "svg line", "svg text")
# What Chromium reports of the page as it is laid out; colours are as numbers from 0 to 255.
LAYOUT = """(() => {
  const visible = one => one.getClientRects().length > 0;
  const colour = (one, kind) => getComputedStyle(one)[kind].match(/[0-9.]+/g).slice(0, 3).map(Number);
  const width = document.documentElement.clientWidth;
  const wanted = document.querySelector('#strips') ? %s : %s;
  const texts = [...document.querySelectorAll('h1, p, td, th, label, svg text')].filter(visible);
  return {
    missing: wanted.filter(name => ![...document.querySelectorAll(name)].some(one => visible(one) || one.tagName == 'title')),
    width: width,
    scrolls: document.documentElement.scrollWidth > width,
    wide: [...document.querySelectorAll('body *')].filter(visible)
      .filter(one => !one.parentElement.closest('.wide, table'))  // which scroll by themselves
      .filter(one => one.getBoundingClientRect().right > width + 1 || one.getBoundingClientRect().left < 0)
      .map(one => one.tagName + ' ' + one.id + ' ' + Math.round(one.getBoundingClientRect().right)),
    folded: document.querySelector('#nodes') ? ![...document.querySelectorAll('#nodes .m')].some(visible) : null,
    back: colour(document.body, 'backgroundColor'),
    texts: texts.map(one => [one.textContent.slice(0, 30), colour(one, one.closest('svg') ? 'fill' : 'color')]),
  };
})()""" % (json.dumps(PAGE_ELEMENTS), json.dumps(ELEMENTS))


class Browser:
    """Chromium, and its DevTools protocol through two pipes: JSON texts that end with a zero byte."""

    def __init__(self, program, folder):
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]

        def pipes():  # Chromium reads descriptor 3 and writes descriptor 4
            high = [os.dup(from_us), os.dup(to_us)]
            for wanted, descriptor in enumerate(high, 3):
                os.dup2(descriptor, wanted)

        self.process = subprocess.Popen(command, preexec_fn=pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"HOME": folder})
        os.close(from_us)
        os.close(to_us)
        self.output, self.input = os.fdopen(from_browser, "rb"), os.fdopen(to_browser, "wb", buffering=0)
        self.number, self.events, self.session = 0, [], None

    def message(self):
        text = bytearray()
        while (byte := self.output.read(1)) != b"\0":
            assert byte, "Chromium ended"
            text += byte
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        self.input.write(json.dumps(call).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in [event["method"] for event in self.events]:
            self.events.append(self.message())

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait()


def luminance(colour):
    parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """As WCAG 2 defines it: 1 to 21."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def complaints(layout, width, scheme):
    if layout["missing"]:
        yield f"not visible: {layout['missing']}"
    if layout["scrolls"] or layout["wide"]:
        yield f"wider than the window: {layout['wide'][:5]}"
    if layout["folded"] not in (None, width <= FOLDED):
        yield f"columns of lesser importance are {'hidden' if layout['folded'] else 'shown'}"
    if (luminance(layout["back"]) < 0.2) != (scheme == "dark"):
        yield f"the background is {layout['back']}"
    faint = [text for text, colour in layout["texts"] if contrast(colour, layout["back"]) < 4.5]
    if faint:
        yield f"texts that can hardly be read: {faint[:5]}"


def check(browser, url, pictures):
    found = []
    browser.open(url)
    for width in WIDTHS:
        for scheme in SCHEMES:
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            answer = browser.call("Runtime.evaluate", expression=LAYOUT, returnByValue=True)
            assert "exceptionDetails" not in answer, answer
            found += [f"{width} {scheme}: {text}" for text in complaints(answer["result"]["value"], width, scheme)]
            if pictures:
                picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
                pathlib.Path(pictures, f"{width}_{scheme}.png").write_bytes(base64.b64decode(picture))
    for event in browser.events:
        if event["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            found.append(f"console: {event['params']}")
        if event["method"] == "Network.requestWillBeSent" and event["params"]["request"]["url"] != url:
            found.append(f"loads {event['params']['request']['url']}")
    return found


def main(page, pictures=None):
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        print(f"no browser is installed that this test knows ({', '.join(NAMES)})")
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            found = check(browser, pathlib.Path(page).resolve().as_uri(), pictures)
            browser.close()
        finally:
            browser.process.kill()
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
