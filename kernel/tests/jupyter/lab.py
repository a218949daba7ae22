"""JupyterLab in a real browser: a notebook is opened and run, a bar moves, a long cell is interrupted, variables live, the
filters of an error page filter.

    python lab.py KERNEL_BINARY FOLDER CHROMIUM

Screenshots are left in FOLDER.
"""

import json
import os
import re
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

PROGRAM, FOLDER, CHROMIUM = sys.argv[1:4]
CELLS = [
    "use claimlab::polars::prelude::df;\nlet table = df!(\"système\" => [\"BM25\", \"<b>E5</b>\"], \"f1\" => [0.31, 0.29])?;\ntable.clone()",
    'let progress = claimlab::signal::Progress::new("Counting", 100);\nfor _ in 0..100 { claimlab::signal::check("nothing is kept")?; '
    "std::thread::sleep(std::time::Duration::from_millis(300)); progress.advance(1); }",
    "table.height() + 40",
    "let lab = Lab::open()?;\nlet sample = lab.sample()?;\nlet bm25 = Retriever::bm25(&sample.chunks(&Chunking::tokens(150, 30)?)?)?;\n"
    "let evaluation = lab.evaluate(&sample, &[System::new(&bm25, &Generator::extractive())], 5)?;\n"
    'evaluation.browse(Metric::F1, &["BM25 + Extractive"], 78)?',
]


def notebook():
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": code, "execution_count": None, "outputs": []}
        for n, code in enumerate(CELLS)
    ]
    kernel = {"display_name": "ClaimLab (Rust)", "language": "rust", "name": "claimlab"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def start_server(folder):
    prefix = os.path.join(folder, "prefix")
    subprocess.run([PROGRAM, "install", "--prefix", prefix], check=True)
    environment = {**os.environ, "JUPYTER_PATH": os.path.join(prefix, "share/jupyter"), "JUPYTER_CONFIG_DIR": folder}
    with open(os.path.join(folder, "a.ipynb"), "w", encoding="utf-8") as file:
        json.dump(notebook(), file)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
               "--IdentityProvider.token=only-for-this-test", f"--ServerApp.root_dir={folder}"]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=folder)
    for line in server.stderr:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/lab", line)
        if found:
            return server, int(found.group(1))
    raise SystemExit("JupyterLab did not start")


def drain(server):
    import threading

    threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()


def output(page, cell):
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output")


def wait_for(what, seconds, check, page=None):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if check():
            return
        time.sleep(0.2)
    if page:
        page.screenshot(path=os.path.join(FOLDER, "failed.png"))
    raise SystemExit(f"JupyterLab: {what} did not happen within {seconds} s")


def main():
    server, port = start_server(FOLDER)
    drain(server)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(f"http://127.0.0.1:{port}/lab/tree/a.ipynb?token=only-for-this-test")
            page.wait_for_selector(".jp-CodeCell", timeout=60_000)
            # A cell that is run before the kernel is connected is silently not run.
            page.wait_for_selector("text=ClaimLab (Rust) | Idle", timeout=60_000)
            page.locator(".jp-CodeCell").nth(0).locator(".cm-content").click()

            page.keyboard.press("Shift+Enter")
            wait_for("a table", 120, lambda: "système" in " ".join(output(page, 0).all_inner_texts()), page)
            shown = output(page, 0).last.inner_html()
            assert "&lt;b&gt;E5&lt;/b&gt;" in shown and "<table" in shown, "text of data is text"
            page.screenshot(path=os.path.join(FOLDER, "1-table.png"))
            print("ok  JupyterLab shows a table, and markup in data as text", flush=True)

            page.keyboard.press("Shift+Enter")
            text = lambda: " ".join(output(page, 1).all_inner_texts())
            count = lambda: int((re.search(r"Counting: (\d+) / 100", text()) or [0, -1])[1])
            wait_for("a progress bar", 60, lambda: count() > 0)
            first = count()
            wait_for("movement of the bar", 30, lambda: count() > first + 3)
            assert output(page, 1).locator("progress").count() == 1, "one bar"
            page.screenshot(path=os.path.join(FOLDER, "2-progress.png"))
            print("ok  a progress bar moves in place", flush=True)

            page.locator("jp-button[data-command='notebook:interrupt-kernel'], button[data-command='notebook:interrupt-kernel']").first.click()
            wait_for("the interrupt's answer", 30, lambda: "interrupted" in text().lower() and "nothing is kept" in text())
            page.screenshot(path=os.path.join(FOLDER, "3-interrupted.png"))
            page.locator(".jp-CodeCell").nth(2).locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")
            wait_for("a result after the interrupt", 60, lambda: "42" in " ".join(output(page, 2).all_inner_texts()))
            page.screenshot(path=os.path.join(FOLDER, "4-alive.png"))
            print("ok  a long cell is interrupted and its variables are alive", flush=True)

            page.locator(".jp-CodeCell").nth(3).locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")
            shown = lambda: page.evaluate(
                "[...document.querySelectorAll('.jp-CodeCell .claimlab .case')].filter(one => one.getBoundingClientRect().height).length")
            wait_for("an error page", 180, lambda: shown() == 78, page)
            french = page.locator(".claimlab .bar label").filter(has_text=re.compile(r"^French \(40\)$"))
            french.click()
            wait_for("the filter's effect", 10, lambda: shown() == 40, page)
            page.screenshot(path=os.path.join(FOLDER, "5-page.png"))
            print("ok  the filters of an error page work in JupyterLab", flush=True)
            browser.close()
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()


main()
