"""A real small model in cells: a live bar, an interrupt in the middle, the model alive, nothing asked twice.

    python models.py KERNEL_BINARY FOLDER MODEL.gguf

Prints one line a promise; the first one that is broken ends it with a traceback.
"""

import json
import os
import re
import sys

from kernel_client import Kernel, children

PROGRAM, FOLDER, MODEL = sys.argv[1:4]
LAB = os.environ["CLAIMLAB_HOME"]
NAME = "SmolLM2-135M"
QUESTIONS = 6
BAR = re.compile(rf"Answering with {NAME}: (\d+)")

OPEN = f"""use claimlab::model::Local;
let lab = Lab::open()?;
let model = Local::at({json.dumps(MODEL)}).slots(1).language_model("{NAME}")?.journaled(&lab)?;
let sample = lab.sample()?;
let chunks = sample.chunks(&Chunking::tokens(60, 0)?)?;
let questions = QaPairs::new(sample.questions().head({QUESTIONS}))?;
let found = Retriever::bm25(&chunks)?.retrieve(&questions, 2)?;
let template = lab.folder().join("prompt.txt");
std::fs::write(&template, "Answer from the passages.\\n---\\n{{context}}\\n\\nQuestion: {{question}}")?;
let generator = Generator::model_with_template(&model, &template, 96)?;"""
ANSWER = "let answers = generator.answer(&questions, &found)?;"


def says(promise):
    print(f"ok  {promise}", flush=True)


def recorded():
    """The lines of the journal, as they are in the file."""
    path = os.path.join(LAB, "calls.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return lines.readlines()


def threads(kernel):
    """Process and thread of everything named after the model, to the 15 letters that the system keeps: its own thread,
    and those that it started to compute on."""
    wanted, found = f"claimlab {NAME}"[:15], set()
    for process in children(kernel.process()):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/comm") as name:
                if name.read().strip() == wanted:
                    found.add((process, thread))
    return found


def bars(ran):
    shown = ran.of("display_data") + ran.of("update_display_data")
    return [bar for bar in shown if BAR.match(bar["data"].get("text/plain", ""))]


def main():
    with Kernel(PROGRAM, FOLDER) as kernel:
        kernel.ok(OPEN, timeout=600)
        model = threads(kernel)
        assert len(model) == 1, f"the model has a thread of its own: {model}"

        asked = []

        def interrupt_in_the_middle(kind, content):
            """After the second answer, once."""
            shown = BAR.match(content.get("data", {}).get("text/plain", "")) if "display" in kind else None
            if shown and 2 <= int(shown[1]) < QUESTIONS and not asked:
                asked.append(int(shown[1]))
                kernel.manager.interrupt_kernel()

        ran = kernel.run(ANSWER, timeout=600, watch=interrupt_in_the_middle)
        assert asked, f"no bar was seen before the end: {ran.outputs}"
        seen = bars(ran)
        assert len({bar["transient"]["display_id"] for bar in seen}) == 1, seen
        says(f"the bar is live: one display, {len(seen)} messages while the cell ran")

        assert (ran.status, ran.reply["ename"]) == ("error", "Interrupted"), ran.reply
        assert f"of {QUESTIONS} questions answered" in ran.reply["evalue"], ran.reply
        assert "stays loaded" in ran.reply["evalue"], ran.reply
        before = recorded()
        assert 2 <= len(before) < QUESTIONS, f"{len(before)} of {QUESTIONS} calls are in the journal"
        says(f"an interrupt ends the cell and says what is kept; {len(before)} of {QUESTIONS} answers are in the journal")

        assert model <= threads(kernel), "the same thread of the same process"
        ran = kernel.ok(f"{ANSWER}\nanswers.height()", timeout=600)
        assert ran.result() == str(QUESTIONS), ran.outputs
        assert model <= threads(kernel), "and it was not loaded again"
        after = recorded()
        assert after[: len(before)] == before and len(after) == QUESTIONS, f"{len(before)} and then {len(after)} calls"
        replies = [json.loads(line)["reply"]["text"] for line in after]
        assert all(reply.strip() for reply in replies), replies
        says("the model's variable is alive and answers the rest; what was answered is not asked again")

        ran = kernel.ok(
            "let again = generator.answer(&questions, &found)?;\n"
            'claimlab::table::texts(again.frame(), "response")? == claimlab::table::texts(answers.frame(), "response")?'
        )
        assert ran.result() == "true" and recorded() == after
        ran = kernel.ok('model.ask("What is a contract? One sentence.")?', timeout=600)
        assert len(ran.result()) > 5 and len(recorded()) == QUESTIONS + 1, ran.outputs
        says("a second run comes from the journal, and the model goes on answering")


main()
