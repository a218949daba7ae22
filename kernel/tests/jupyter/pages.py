"""Pages for people in a real browser, without network: the filters of an error page, and the form of a review.

    python pages.py FOLDER CHROMIUM

FOLDER holds `browse.html` with `browse.json` (what must be seen after which clicks) and `review.html`, as
`tests/it/browser.rs` writes them. The form's saved file is left there as `labels.json`, with screenshots.
"""

import json
import os
import re
import sys

from playwright.sync_api import sync_playwright

FOLDER, CHROMIUM = sys.argv[1:3]


def path(name):
    return os.path.join(FOLDER, name)


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def watched(context, name):
    """A page of its own, with everything that it asks of the network and everything that goes wrong in it."""
    page = context.new_page()
    page.told = []
    page.on("console", lambda message: message.type in ("error", "warning") and page.told.append(message.text))
    page.on("pageerror", lambda error: page.told.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "blob:", "data:")) or page.told.append(request.url))
    page.goto("file://" + os.path.abspath(path(name)))
    return page


# The questions that are seen, from top to bottom.
SHOWN = """() => [...document.querySelectorAll('.claimlab .case')]
    .map(one => [one.getBoundingClientRect(), one.querySelector('summary .id').textContent])
    .filter(([place]) => place.height > 0)
    .sort(([a], [b]) => a.top - b.top)
    .map(([, id]) => id)"""


def choose(page, label):
    """Clicks the filter or the order whose label this is, whatever number stands behind it."""
    page.locator(".claimlab .bar label").filter(has_text=re.compile(r"^\s*" + re.escape(label) + r"(\s\(\d+\))?$")).click()


def filters(page, expected, what):
    everything = page.evaluate(SHOWN)
    assert sorted(everything) == sorted(expected["all"]), f"{what}: {len(everything)} questions at first"
    for step in expected["steps"]:
        for label in step["click"]:
            choose(page, label)
        shown = page.evaluate(SHOWN)
        wrong = sorted(set(shown) ^ set(step["shown"]))
        assert not wrong, f"{what}: after {step['click']} these are wrongly shown or hidden: {wrong}"
        page.reload()
        assert page.evaluate(SHOWN) == everything, f"{what}: a new visit begins anew"
    for order in expected["orders"]:
        choose(page, order["click"])
        # Only the values count, to the last bit but one: equals stand in any order.
        values = [round(order["goodness"][question], 9) for question in page.evaluate(SHOWN)]
        assert values == sorted(values), f"{what}: by {order['click']} the worst come first: {values}"
    page.reload()


def hostile(page, text, what):
    assert page.evaluate("window.hacked") is None, f"{what}: markup in data ran"
    assert page.locator("script").count() == 0 or what == "a notebook as HTML", f"{what}: a script"
    seen = page.locator(".claimlab summary").filter(has_text=text)
    assert seen.count() == 1, f"{what}: markup in data is text"


def browse(context):
    expected = json.loads(read("browse.json"))
    page = watched(context, "browse.html")
    filters(page, expected, "a saved page")
    hostile(page, expected["hostile"], "a saved page")
    first = page.locator(".claimlab .case >> visible=true").first
    first.locator("summary").first.click()
    chip = first.locator(".chip").first
    chip.hover()
    # A claim's verdicts open where it is pointed at.
    chip.locator(".tip").wait_for(state="visible")
    page.screenshot(path=path("1-opened.png"))
    choose(page, expected["steps"][0]["click"][0])
    page.screenshot(path=path("2-filtered.png"))
    assert page.told == [], page.told
    print(f"ok  {len(expected['steps'])} filters and {len(expected['orders'])} orders show what they must, offline", flush=True)


def exported(context):
    """The same page as a notebook's output, as nbconvert exports it: no policy of the page's own holds scripts back."""
    import nbformat
    from nbconvert import HTMLExporter

    expected = json.loads(read("browse.json"))
    body = re.search(r"<body>(.*)</body>", read("browse.html"), re.S).group(1)
    output = nbformat.v4.new_output("display_data", {"text/html": body})
    cell = nbformat.v4.new_code_cell("evaluation.browse(…)", outputs=[output])
    html, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    # What the exporter itself would load from elsewhere is none of ours, and is not there offline.
    html = re.sub(r"<script[^>]*src=\"https?:[^>]*>\s*</script>", "", html)
    with open(path("exported.html"), "w", encoding="utf-8") as file:
        file.write(html)
    page = watched(context, "exported.html")
    filters(page, expected, "a notebook as HTML")
    hostile(page, expected["hostile"], "a notebook as HTML")
    page.screenshot(path=path("3-exported.png"))
    print("ok  so they do in an exported notebook", flush=True)


def review(context):
    page = watched(context, "review.html")
    articles = page.locator("article")
    n = articles.count()
    assert n > 3, f"{n} answers"
    articles.nth(0).locator("input[value=PASS]").check()
    articles.nth(1).locator("input[value=FAIL]").check()
    reason = "Cite l’article 5, pas le 6 ; « <b>faux</b> »"
    articles.nth(1).locator("textarea").fill(reason)
    assert page.locator("#count").inner_text() == f"2 / {n}"

    # Nobody has signed: the form says so and saves nothing.
    told = []
    page.once("dialog", lambda dialog: (told.append(dialog.message), dialog.accept()))
    page.locator("#save").click()
    assert told and "name" in told[0].lower(), told

    # A draft outlives the window; an answer may be changed and left open again.
    page.reload()
    assert articles.nth(0).locator("input[value=PASS]").is_checked(), "the draft is kept"
    assert articles.nth(1).locator("textarea").input_value() == reason
    articles.nth(2).locator("input[value=PASS]").check()
    articles.nth(2).locator("input[value='']").check()
    page.locator("#who").fill("Me Roth")
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "labels-Me-Roth.json", download.value.suggested_filename
    download.value.save_as(path("labels.json"))
    saved = json.loads(read("labels.json"))
    assert [one["label"] for one in saved["labels"][:3]] == ["PASS", "FAIL", None], saved["labels"][:3]
    assert saved["labels"][1]["reason"] == reason and len(saved["labels"]) == n
    page.screenshot(path=path("4-review.png"))
    assert page.evaluate("window.hacked") is None and page.told == [], page.told
    print("ok  the review's form keeps a draft, asks for a name and saves a file, offline", flush=True)


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True, accept_downloads=True)
        context.set_default_timeout(120_000)
        browse(context)
        exported(context)
        review(context)
        browser.close()


main()
