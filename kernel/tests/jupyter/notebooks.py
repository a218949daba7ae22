"""A notebook through nbclient or papermill, by the installed kernelspec as a user's Jupyter finds it.

    python notebooks.py KERNEL_BINARY FOLDER nbclient|papermill NOTEBOOK OUTPUT
    python notebooks.py KERNEL_BINARY FOLDER failing

The first form executes a notebook in its own folder and writes what was executed. The second one lets both clients meet
a cell that panics and one whose `?` fails, which they must report as failed. Prints one line a promise.
"""

import os
import subprocess
import sys

import nbclient
import nbformat
import papermill

PROGRAM, FOLDER, CLIENT = sys.argv[1:4]
# Seconds that one cell may take.
PATIENCE = 900


def install():
    """Lets jupyter_client find the kernel as `claimlab install` leaves it, and no other one."""
    prefix = os.path.join(FOLDER, "prefix")
    subprocess.run([PROGRAM, "install", "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    os.environ["JUPYTER_PATH"] = os.path.join(prefix, "share/jupyter")
    os.environ["JUPYTER_DATA_DIR"] = os.path.join(FOLDER, "no-kernels-of-the-user")


def by_nbclient(source, output, folder):
    book = nbformat.read(source, as_version=4)
    client = nbclient.NotebookClient(
        book, kernel_name="claimlab", timeout=PATIENCE, startup_timeout=PATIENCE, resources={"metadata": {"path": folder}}
    )
    try:
        client.execute()
    finally:
        nbformat.write(book, output)


def by_papermill(source, output, folder):
    papermill.execute_notebook(
        source,
        output,
        kernel_name="claimlab",
        cwd=folder,
        progress_bar=False,
        log_output=False,
        execution_timeout=PATIENCE,
        start_timeout=PATIENCE,
    )


CLIENTS = {"nbclient": by_nbclient, "papermill": by_papermill}


def check(output):
    """What a client wrote is a valid notebook in which every cell ran, in order, and none failed."""
    book = nbformat.read(output, as_version=4)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), [c.execution_count for c in cells]
    wrong = [out for cell in cells for out in cell.outputs if out.output_type == "error"]
    assert not wrong, wrong
    return len(cells)


def executes(source, output):
    CLIENTS[CLIENT](source, output, os.path.dirname(os.path.abspath(source)))
    print(f"ok  {CLIENT} executes all {check(output)} cells of {os.path.basename(source)}", flush=True)


def written(name, *cells):
    path = os.path.join(FOLDER, name)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    book.metadata.kernelspec = {"name": "claimlab", "display_name": "ClaimLab (Rust)", "language": "rust"}
    nbformat.write(book, path)
    return path


def failing():
    """In stock evcxr_jupyter both would pass over these cells."""
    for client, error, cell, ename, words in [
        ("nbclient", nbclient.exceptions.CellExecutionError, 'panic!("not today")', "Panic", "not today"),
        ("papermill", papermill.PapermillExecutionError, 'std::fs::read("/no/such/file")?;', "Error", "No such file"),
    ]:
        source = written(f"{client}.ipynb", 'println!("before");', cell, 'println!("after");')
        output = os.path.join(FOLDER, f"{client}-out.ipynb")
        try:
            CLIENTS[client](source, output, FOLDER)
        except error as told:
            assert told.ename == ename and words in told.evalue, (told.ename, told.evalue)
        else:
            raise AssertionError(f"{client} passed over {cell}")
        cells = [cell for cell in nbformat.read(output, as_version=4).cells if cell.cell_type == "code"]
        # papermill puts a cell of its own in front, which says what failed.
        before, failed, after = cells[-3:]
        assert "before" in str(before.outputs) and not after.outputs, cells
        kinds = [out.output_type for out in failed.outputs]
        assert kinds[-1] == "error" and failed.outputs[-1].ename == ename, failed.outputs
        print(f"ok  {client} ends at a cell that fails ({ename}), keeps what came before and runs nothing after", flush=True)


install()
if CLIENT == "failing":
    failing()
else:
    executes(*sys.argv[4:6])
