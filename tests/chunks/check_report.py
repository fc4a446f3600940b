#!/usr/bin/env python3
"""Whether a report is well-formed. Usage: check_report.py PAGE TRACE; prints how often each event of the trace is there.

The page must have nothing that is loaded, and its tags must match; the trace must be JSON in the trace event format.
"""
import collections
import html.parser
import json
import sys

VOID = {"meta", "br", "input"}
NEEDS = {"X": {"ts", "dur", "pid", "tid", "name", "cat"}, "b": {"ts", "pid", "tid", "name", "cat", "id"},
         "e": {"ts", "pid", "tid", "name", "cat", "id"}, "i": {"ts", "pid", "tid", "name", "s"},
         "s": {"ts", "pid", "tid", "name", "cat", "id"}, "f": {"ts", "pid", "tid", "name", "cat", "id", "bp"},
         "C": {"ts", "pid", "name", "args"}, "M": {"pid", "name", "args"}}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], collections.Counter()

    def handle_starttag(self, tag, attributes):
        self.seen[tag] += 1
        assert tag not in ("script", "link", "img", "iframe"), tag
        assert not {"src", "href"} & {name for name, _ in attributes}, attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):  # <rect .../>
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag, tag


def check_page(path):
    text = open(path, encoding="utf-8").read()
    assert text.startswith("<!DOCTYPE html>") and "http" not in text and "url(" not in text
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert page.seen["table"] >= 1 and page.seen["svg"] >= 1, page.seen


def check_trace(path):
    events = json.load(open(path, encoding="utf-8"))["traceEvents"]
    counts, spans, arrows = collections.Counter(), collections.Counter(), {}
    for event in events:
        assert NEEDS[event["ph"]] <= event.keys(), event
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0, event
        assert isinstance(event["name"], str) and isinstance(event["pid"], int)
        if event["ph"] in "be":
            spans[event["id"]] += 1 if event["ph"] == "b" else -1
        if event["ph"] == "s":
            arrows[event["id"]] = event["ts"]
        if event["ph"] == "f":
            assert arrows.pop(event["id"]) <= event["ts"], event
        if event["ph"] in "Xbi":
            counts[event["pid"], event["ph"], event["name"]] += 1
    assert not any(spans.values()) and not arrows
    return counts


if __name__ == "__main__":
    check_page(sys.argv[1])
    for (node, phase, name), times in sorted(check_trace(sys.argv[2]).items()):
        print(f"{node} {phase} {name} = {times}")
