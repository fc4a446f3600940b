"""The examples in examples/python: the same result with any number of nodes. Usage: examples_test.py ENVIRONMENT"""

import json
import pathlib
import re
import subprocess
import tempfile

import jobs

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


class ExamplesTest(jobs.JobTest):
    def runs(self, name, *arguments):
        """What each number of nodes prints, without that number."""
        texts = set()
        for nodes in (0, 2, 4):
            done = subprocess.run(jobs.command(nodes) + [str(EXAMPLES / name), *arguments], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            texts.add(re.sub(r"^\d+ nodes", "", done.stdout))
        return texts

    def test_heat_is_the_same_for_any_nodes(self):
        self.assertEqual(len(self.runs("heat.py", "200", "30")), 1)

    def test_heat_is_the_same_on_two_hosts(self):
        hosts = jobs.command(1)[:1] + ["hosts", "-n", "2"]
        if subprocess.run([*hosts, "true"], capture_output=True).returncode != 0:
            self.skipTest("no hosts of namespaces here")
        program = [str(EXAMPLES / "heat.py"), "200", "30"]
        done = subprocess.run(hosts + jobs.command(4, "-H", "h0:2,h1:2") + program, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "4 nodes" + self.runs("heat.py", "200", "30").pop())

    def test_writers_write_their_columns_in_place(self):
        texts = self.runs("writers.py", "1000")
        self.assertEqual(len(texts), 1)
        self.assertIn("64 writers", texts.pop())

    def test_kmeans_counts_each_point_once(self):
        for text in self.runs("kmeans.py", "4000"):
            self.assertIn("4000 points in 8 clusters", text)

    def test_the_camera_loses_no_frame_of_the_last_node(self):
        self.assertEqual(self.runs("camera.py", "30"), {", 30 frames, the ball went from 0 to 571\n"})

    def test_the_notebook_runs_from_top_to_bottom(self):
        notebook = EXAMPLES / "notebook.ipynb"
        for cell in json.loads(notebook.read_text())["cells"]:
            self.assertFalse(cell.get("outputs") or cell.get("execution_count"), "outputs are stripped before a commit")
        python = jobs.command(0)[0]
        if subprocess.run([python, "-c", "import nbclient, ipykernel, cloudpickle"], capture_output=True).returncode != 0:
            self.skipTest("pip cannot install nbclient, ipykernel and cloudpickle here")
        with tempfile.TemporaryDirectory() as folder:
            ran = pathlib.Path(folder) / "ran.ipynb"
            text = f"""
import nbclient, nbformat
notebook = nbformat.read({str(notebook)!r}, 4)
nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
nbformat.write(notebook, {str(ran)!r})
"""
            done = subprocess.run([python, "-c", text], capture_output=True, text=True, timeout=100, cwd=folder)
            self.assertEqual(done.returncode, 0, done)
            outputs = [output for cell in json.loads(ran.read_text())["cells"] for output in cell.get("outputs", [])]
        self.assertEqual({output.get("name") for output in outputs}, {"stdout"}, outputs)
        text = "".join("".join(output["text"]) for output in outputs)
        for part in ("4 nodes", "turns by node", "@@@@", "on node 3 of 4: no luck", "the largest value is 60"):
            self.assertIn(part, text)


if __name__ == "__main__":
    jobs.main()
