"""Every notebook of the project through nbclient, and the first of them through papermill.

    python notebooks.py KERNEL_BINARY FOLDER NOTEBOOK...
"""

import os
import subprocess
import sys
import time

PROGRAM, FOLDER, NOTEBOOKS = sys.argv[1], sys.argv[2], sys.argv[3:]
prefix = os.path.join(FOLDER, "prefix")
subprocess.run([PROGRAM, "install", "--prefix", prefix], check=True)
os.environ["JUPYTER_PATH"] = os.path.join(prefix, "share/jupyter")

import nbformat  # noqa: E402
import papermill  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

for path in NOTEBOOKS:
    began = time.monotonic()
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, kernel_name="claimlab", timeout=600, resources={"metadata": {"path": os.path.dirname(path)}}).execute()
    codes = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in codes)
    print(f"ok  nbclient: {os.path.basename(path)}, {len(codes)} cells in {time.monotonic() - began:.1f} s", flush=True)

began = time.monotonic()
out = os.path.join(FOLDER, "papermill.ipynb")
papermill.execute_notebook(NOTEBOOKS[0], out, kernel_name="claimlab", cwd=os.path.dirname(NOTEBOOKS[0]), progress_bar=False)
print(f"ok  papermill: {os.path.basename(NOTEBOOKS[0])} in {time.monotonic() - began:.1f} s", flush=True)
