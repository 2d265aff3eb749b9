"""Runs a notebook as Jupyter would, over a home, and keeps the charts that it draws.

    notebook.py NOTEBOOK HOME FOLDER

prints, as JSON, the cells that draw, and of each chart its file, its size and how many colours it has.
"""
import base64, io, json, os, pathlib, sys, tempfile

import jupyter_client
import matplotlib.image
import nbclient
import nbformat
import numpy


def main(path, home, folder):
    os.environ["HAAT_HOME"] = os.path.abspath(home)
    notebook = nbformat.read(path, as_version=4)
    stored = sum(len(cell.outputs) for cell in notebook.cells if cell.cell_type == "code")
    resources = {"metadata": {"path": str(pathlib.Path(path).parent)}}
    # By sockets in a folder of its own: others on this machine do not reach what runs here.
    with tempfile.TemporaryDirectory() as sockets:
        kernel = jupyter_client.AsyncKernelManager(transport="ipc", ip=f"{sockets}/kernel", kernel_name="python3")
        nbclient.NotebookClient(notebook, km=kernel, timeout=120, resources=resources).execute()
    drawing, charts = 0, []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        drawing += "plt.show()" in cell.source
        for output in cell.outputs:
            picture = output.get("data", {}).get("image/png")
            if picture is None:
                continue
            file = pathlib.Path(folder) / f"chart-{len(charts) + 1:02}.png"
            file.write_bytes(base64.b64decode(picture))
            pixels = matplotlib.image.imread(io.BytesIO(file.read_bytes()))
            colours = len(numpy.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0))
            charts.append({"file": str(file), "width": pixels.shape[1], "height": pixels.shape[0], "colours": colours})
    print(json.dumps({"stored_outputs": stored, "drawing_cells": drawing, "charts": charts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
