"""The demo's page in Debian's chromium: by keyboard, for screen readers, dark and light, with hostile texts."""

import json
import subprocess
import sys
import threading

import pytest

import bertqa
import browser
from bertqa.demo import _server
from bertqa.demo._server import Server
from bertqa.demo._tasks import Tasks
from samples import ANSWER, FOX, WHO

pytestmark = pytest.mark.skipif(browser.PROGRAM is None, reason="the page in a browser: needs chromium")

HOSTILE = (
    "</div><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    '"><svg onload="window.hacked = 3"> {{token}} &lt;b&gt; \u202e\u0000 '
)
NAME = '<img src=x onerror="window.hacked = 4">.txt'


@pytest.fixture(scope="module")
def served():
    documents = [("fox.txt", FOX + "\n" * 200 + "The end."), (NAME, HOSTILE + FOX)]
    with Server(Tasks(documents, {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def chromium():
    if browser.PROGRAM is None:
        pytest.skip("needs chromium")
    chromium = browser.Browser()
    yield chromium
    chromium.close()


@pytest.fixture
def page(chromium, served):
    """The page, freshly loaded with its first document."""
    chromium.call("Page.navigate", url="about:blank")
    chromium.open(served.url)
    chromium.wait("at('document').textContent !== ''")
    chromium.wait("document.activeElement.id === 'question'")
    del chromium.requests[:], chromium.messages[:]
    yield chromium
    assert all(url.startswith(served.url) for url in chromium.requests), chromium.requests
    assert chromium.messages == []
    assert chromium.run(
        "window.hacked === undefined && !document.querySelector('main img, main script, main svg')"
    )


def ask(page, question):
    page.run(f"at('question').value = {json.dumps(question)}; at('ask').requestSubmit()")
    page.wait("at('verdict').textContent && at('verdict').textContent !== 'Reading…'")


def test_a_question_by_keyboard_alone(page):
    page.type(WHO)
    page.press("Enter")
    assert page.wait("document.querySelector('mark.best')?.textContent") == "The quick brown fox"
    assert page.run("at('verdict').textContent").startswith("The quick brown fox")
    assert page.run("at('document').textContent") == FOX + "\n" * 200 + "The end."
    assert page.run("at('verdict').getAttribute('aria-live')") == "polite"
    # From the question, the keys lead to the button, the document and every answer.
    reached = []
    for _ in range(12):
        page.press("Tab")
        reached.append(page.run("document.activeElement.id || document.activeElement.parentElement.tagName"))
    assert reached.index("document") < reached.index("LI")


def test_the_answer_is_scrolled_to(page):
    page.run("show('Nothing is here.\\n'.repeat(300) + " + json.dumps(FOX) + ")")
    ask(page, WHO)
    page.wait("at('document').scrollTop > 100")
    visible = """(() => { const mark = document.querySelector('mark.best').getBoundingClientRect(),
      box = at('document').getBoundingClientRect(); return mark.top >= box.top && mark.bottom <= box.bottom })()"""
    assert page.wait(visible)


def test_runners_up_have_bars_and_lead_to_their_places(page):
    page.run("show('Ann sold the horse in 1901. ' + 'x\\n'.repeat(200) + 'Bob sold a horse in 1950.')")
    ask(page, "When was a horse sold?")
    count = page.run("at('answers').children.length")
    assert count > 1
    shown = page.run("[...document.querySelectorAll('#answers meter')].map(bar => bar.value)")
    assert len(shown) == count and shown == sorted(shown, reverse=True) and 0 < shown[0] <= 1
    for rank in range(count):
        page.run(f"at('answers').children[{rank}].firstChild.focus()")
        page.press("Enter")
        current = "[...document.querySelectorAll('#answers button')].map(b => b.getAttribute('aria-current'))"
        assert page.run(current).index("true") == rank
        text = page.run(f"at('mark-{rank}').textContent")
        assert page.run(f"at('answers').children[{rank}].firstChild.textContent") == text


def test_no_answer_is_said_plainly(page):
    ask(page, "What is the capital of France?")
    assert (
        page.run("document.querySelector('#verdict strong').textContent") == "This document does not seem to say."
    )
    assert page.run("document.querySelector('#verdict .guess-text').textContent").startswith("Best guess: ")
    assert page.run(
        "document.querySelector('mark.guess') !== null && document.querySelector('mark.best') === null"
    )
    page.run("show('')")
    ask(page, "What?")
    assert page.run("at('verdict').textContent") == "This document does not seem to say."


def test_a_collection_is_asked(chromium, tmp_path):
    """Hits by keyboard; each opens its document with the passage and the answer in it marked, and nothing is HTML."""
    with bertqa.Collection(tmp_path / "notes.db") as notes:
        notes.add("long", "\n\n".join(f"It rained a little on day {n}." for n in range(300)) + "\n\n" + FOX)
        notes.add(NAME, HOSTILE + "The moon is far away.", title=HOSTILE)
    with Server(Tasks([("notes.db", tmp_path / "notes.db")], {})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            chromium.open(server.url)
            chromium.wait("document.activeElement.id === 'question' && at('documents').options.length === 1")
            chromium.type(WHO)
            chromium.press("Enter")
            assert chromium.wait("document.querySelector('#hit mark.best')?.textContent") == ANSWER
            assert chromium.run("at('verdict').textContent").startswith(ANSWER)
            assert "on day 7" in chromium.run("at('document').textContent")
            chromium.wait("at('document').scrollTop > 100")
            hits = chromium.run("[...document.querySelectorAll('#hits .place')].map(place => place.textContent)")
            assert "long" in hits and len(hits) > 3
            place = next(index for index, hit in enumerate(hits) if NAME in hit)
            # A title that is written from right to left does not turn the place round.
            parts = f"[...document.querySelectorAll('#hits .place')[{place}].querySelectorAll('bdi')]"
            assert chromium.run(f"{parts}.map(part => part.textContent)") == [HOSTILE, NAME]
            chromium.run(f"document.querySelectorAll('#hits button')[{place}].focus()")
            chromium.press("Enter")
            chromium.wait("at('document').textContent.includes('onerror')")
            assert chromium.run("at('hit').textContent").endswith("The moon is far away.")
            assert chromium.run("document.querySelectorAll('#hits [aria-current=true]').length") == 1
            assert chromium.run(
                "window.hacked === undefined && !document.querySelector('main img, main script, main svg')"
            )
        finally:
            server.shutdown()
            thread.join()


def test_suggested_questions_are_asked_at_a_press(page):
    page.run("show('It rained. The old mill was built by Ann Miller in 1820. It burnt down.')")
    page.wait("at('suggested').children.length")
    page.run("at('suggested').firstChild.focus()")
    page.press("Enter")
    page.wait("document.querySelector('mark') !== null")
    assert page.run("at('question').value") == "What was the old mill built by?"
    assert "Ann Miller" in page.run("document.querySelector('mark.best').textContent")


def test_documents_are_chosen_pasted_and_opened(page, tmp_path):
    assert page.run("[...at('documents').options].map(o => o.text)") == ["fox.txt", NAME]
    page.run("at('paste-button').click()")
    assert page.run("document.activeElement.id") == "pasted"
    page.type("A cat jumped over the dog.")
    page.run("at('paste').requestSubmit()")
    assert page.run("at('document').textContent") == "A cat jumped over the dog."
    assert page.run("at('paste').hidden && at('paste-button').getAttribute('aria-expanded')") == "false"
    ask(page, WHO)
    assert page.run("document.querySelector('mark').textContent") == "A cat"
    page.run("at('paste-button').click(); at('pasted').value = ''; at('paste').requestSubmit()")
    assert page.run("at('error').textContent") == "Pasted text 2: empty" and not page.run("at('paste').hidden")
    page.run("at('pasted').value = 'A cow jumped.'; at('paste').requestSubmit()")
    assert page.run("at('documents').selectedOptions[0].text + at('error').textContent") == "Pasted text 2"
    file = tmp_path / "<b>mine.txt"
    for data, expected in [(b"A hen jumped.", ""), (b"\xff", "<b>mine.txt: not a text in UTF-8")]:
        file.write_bytes(data)
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        node = page.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])
        page.wait(f"at('error').textContent === {json.dumps(expected)}")
        page.wait("at('document').textContent === 'A hen jumped.'")
    # A request in progress, here for questions to suggest, does not mention the file.
    page.run("ask('suggest', { text: 'A hen jumped.' })")
    assert page.run("at('error').textContent") == expected
    page.run("globalThis.gone = { name: 'gone', size: 1, arrayBuffer: () => Promise.reject(Error()) }")
    page.run("Object.defineProperty(at('file'), 'files', { value: [gone] })")
    page.run("at('file').dispatchEvent(new Event('change'))")
    page.wait("at('error').textContent === 'gone: cannot be read'")
    # Like a file, it is measured in bytes.
    page.run("add('Pasted text', 'é'.repeat(5 << 20))")
    page.wait("at('error').textContent === 'Pasted text: larger than 8 MiB'")
    names = ["fox.txt", NAME, "Pasted text 1", "Pasted text 2", file.name]
    assert page.run("[...at('documents').options].map(o => o.text)") == names
    assert page.run("at('documents').selectedIndex") == 4
    assert page.run("at('document').textContent") == "A hen jumped."
    page.run("at('documents').selectedIndex = 0; at('documents').dispatchEvent(new Event('change'))")
    page.wait(f"at('document').textContent.startsWith({json.dumps(FOX)})")


CHOOSE = "at('documents').selectedIndex = 1; at('documents').dispatchEvent(new Event('change')); "


def test_a_question_waits_for_the_document(page):
    page.run(f"{CHOOSE} at('question').value = {json.dumps(WHO)}; at('ask').requestSubmit()")
    page.wait("document.querySelector('mark.best') !== null")
    assert page.run("at('document').textContent") == HOSTILE + FOX
    # Nor is one lost that is asked before the list of documents is there.
    late = "const now = fetch; fetch = async (...request) => { if (request[0] === 'documents') "
    late += "await new Promise((go) => { globalThis.go = go }); return now(...request) }"
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=late)
    page.call("Page.reload")
    page.wait("globalThis.go && at('file').disabled && at('paste-button').disabled")
    page.call("Page.removeScriptToEvaluateOnNewDocument", **script)
    page.run(f"at('question').value = {json.dumps(WHO)}; at('ask').requestSubmit(); go()")
    page.wait("document.querySelector('mark.best') !== null")
    assert not page.run("at('file').disabled || at('paste-button').disabled")


def test_the_list_says_what_is_shown(page, monkeypatch):
    """Also after a document that cannot be had."""
    monkeypatch.setattr(Tasks, "_document", lambda *request: 1 // 0)
    page.run(f"{CHOOSE} at('question').value = {json.dumps(WHO)}; at('ask').requestSubmit()")
    page.wait("at('error').textContent.includes('division')")
    assert page.run("at('documents').selectedIndex") == 0 and page.run("at('verdict').textContent") == ""
    ask(page, WHO)
    assert page.run("at('document').textContent").startswith(FOX) and page.run("at('error').textContent") == ""
    del page.messages[:]  # Chromium logs failures


def test_hostile_texts_stay_text(page):
    page.run(CHOOSE)
    page.wait("at('document').textContent.includes('hacked')")
    assert page.run("at('document').textContent") == HOSTILE + FOX
    for question in HOSTILE + WHO, "What is hacked?", "<script>":
        ask(page, question)
        assert page.run("at('document').textContent") == HOSTILE + FOX
        assert page.run("at('document').querySelectorAll(':not(mark)').length") == 0
    page.run(f"select(at('tab-classify')); at('classified').value = {json.dumps(HOSTILE * 3 + FOX)}")
    page.run("at('classify').requestSubmit()")
    page.wait("at('labels').children.length || at('class').textContent")
    # A text area has U+FFFD for a null and \\n for line ends.
    assert page.run("at('weighed').textContent === at('classified').value")
    page.run(f"select(at('tab-next')); at('begun').value = {json.dumps(HOSTILE)}; showNext()")
    page.wait("at('words').children.length")


def test_the_newest_question_counts(page):
    """The first of two requests in quick succession is dropped, whichever result arrives first."""
    page.run("at('question').value = 'What is the capital of France?'; answer(); "
             f"at('question').value = {json.dumps(WHO)}; answer(); 0")  # fmt: skip
    page.wait("document.querySelector('mark.best') !== null")
    assert page.run("at('verdict').textContent").startswith("The quick brown fox")


def test_tabs_by_keyboard(page):
    page.run("at('tab-answer').focus()")
    for key, tab in [("ArrowRight", "classify"), ("ArrowRight", "next"), ("ArrowRight", "answer"),
                     ("ArrowLeft", "next"), ("Home", "answer"), ("End", "next")]:  # fmt: skip
        page.press(key)
        assert page.run("document.activeElement.id") == f"tab-{tab}"
        assert page.run("[...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map(p => p.id)") == [
            f"panel-{tab}"
        ]
        assert page.run(f"at('tab-{tab}').getAttribute('aria-selected')") == "true"
    page.wait("at('words').children.length")


def test_classification_colours_the_words_that_decided(page):
    page.run("select(at('tab-classify')); at('classify').requestSubmit()")
    page.wait("at('labels').children.length")
    assert page.run("document.querySelector('#class strong').textContent") == "sport"
    assert page.run("at('weighed').textContent === at('classified').value")
    word = "[...document.querySelectorAll('#weighed .for')].find(w => w.textContent === 'striker')"
    assert page.run(f"getComputedStyle({word}).backgroundColor") != "rgba(0, 0, 0, 0)"
    # The same as a table, for those who do not see colours.
    first = "at('weights').rows[0]"
    assert page.run(f"{first}.cells[0].textContent") == "striker"
    assert page.run(f"{first}.cells[1].textContent === {word}.title")
    assert page.run("document.querySelector('#weighed .against') && !at('legend').hidden")
    page.run("at('classified').value = 'no'; at('classify').requestSubmit()")
    page.wait("at('class').textContent === 'The text is too short to say.'")


def test_a_text_is_continued_word_by_word(page):
    page.run("select(at('tab-next')); at('begun').value = 'O'; showNext()")
    page.wait("at('words').children.length === 8")
    first = page.run("at('words').firstChild.firstChild.textContent")
    page.wait(f"at('following').textContent.startsWith('Most probable: ' + {json.dumps(first)})")
    page.run("at('continue').requestSubmit()")
    page.wait(f"at('begun').value === {json.dumps('O ' + first)}")
    page.wait(f"at('words').firstChild.firstChild.textContent !== {json.dumps(first)}")
    second = page.run("at('words').children[1].firstChild.textContent")
    page.run("at('words').children[1].firstChild.click()")
    page.wait(f"at('begun').value === {json.dumps(f'O {first} {second}')}")


def test_only_words_that_follow_the_text_are_added(page, served):
    def added(text):
        words = served.tasks.run("next", {"page": "test", "text": text})["words"]
        return f"{text} {words[0]['word']}"

    submit, steps = "at('continue').requestSubmit(); ", ["O"]
    for _ in range(4):
        steps.append(added(steps[-1]))
    page.run("select(at('tab-next'))")
    page.wait("at('words').children.length")
    for press, expected in [
        ("at('begun').value = 'O'; at('begun').dispatchEvent(new Event('input')); " + submit, steps[1]),
        (submit + submit, steps[3]),
        ("(({ firstChild: word }) => { word.click(); word.click() })(at('words').firstChild)", steps[4]),
    ]:  # fmt: skip
        page.run(press)
        page.wait(f"continued === {json.dumps(expected)}")
        assert page.run("at('begun').value") == expected


def test_the_words_keep_the_focus(page):
    page.run("select(at('tab-next'))")
    page.wait("at('words').children.length")
    page.run("at('words').children[2].firstChild.focus()")
    for _ in range(2):
        page.press("Enter")
        page.wait("continued === at('begun').value && continued !== (globalThis.before ?? 'Good night ,')")
        assert (
            page.run("before = continued; [...at('words').children].indexOf(document.activeElement.parentElement)")
            == 2
        )
    page.run("at('begun').value = ''; showNext()")
    assert page.run("document.activeElement.id") == "begun"


def test_everything_has_a_name(page):
    """For screen readers: the roles and names of the page's elements. No control lacks a name."""
    ask(page, WHO)
    page.wait("at('answers').children.length")
    seen = page.accessible()
    for role, name in [
        ("combobox", "Document"), ("textbox", "Question"), ("button", "Ask"), ("tab", "Answer"),
        ("tab", "Classify"), ("tab", "Continue"), ("tablist", "What to do with a text"), ("region", "Document"),
        ("list", "Answers, the surest first"), ("heading", "Ask a text"), ("tabpanel", "Answer"),
    ]:  # fmt: skip
        assert seen[role, name] == 1, (role, name, seen)
    assert any(role == "status" for role, _ in seen) and any(role == "mark" for role, _ in seen)
    for tab in "classify", "next", "answer":
        page.run(f"select(at('tab-{tab}'))")
        for role, name in page.accessible():
            named = {"button", "textbox", "combobox", "tab", "tabpanel", "list", "meter", "region", "tablist"}
            assert name or role not in named, role


def contrast(page, element, part="color"):
    """The contrast between a part of an element, by default its text, and its background, by WCAG 2."""
    colours = page.run(f"""(() => {{
      let behind = {element};
      while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
      return [getComputedStyle({element}).{part}, getComputedStyle(behind).backgroundColor] }})()""")
    light = []
    for colour in colours:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light_can_be_read(page, scheme):
    page.scheme(scheme)
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 23, 26)"}[scheme]
    for element in "at('question')", "at('documents')", "at('paste-button')", "at('document')":
        assert contrast(page, element, "borderTopColor") >= 3, element
    for question in WHO, "What is the capital of France?":
        ask(page, question)
        page.wait("at('answers').children.length")
        for element in (
            "document.body",
            "at('verdict').firstChild",
            "document.querySelector('mark')",
            "at('question')",
        ):
            assert contrast(page, element) >= 4.5, element
        for selector in "#verdict .guess-text", "mark.guess", "#answers button":
            if page.run(f"!!document.querySelector({json.dumps(selector)})"):
                assert contrast(page, f"document.querySelector({json.dumps(selector)})") >= 4.5, selector


def test_forced_colours_show_the_selected_tab(page):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    selected, other = ("getComputedStyle(at('tab-%s')).borderBottomColor" % tab for tab in ("answer", "next"))
    assert page.run(f"matchMedia('(forced-colors: active)').matches && {selected} !== {other}")
    assert contrast(page, "at('tab-answer')", "borderBottomColor") >= 3
    page.call("Emulation.setEmulatedMedia", features=[])


def test_a_failure_leaves_nothing_else(page, monkeypatch):
    """Neither "Reading…" nor, after the next request or on another tab, its own message."""
    ask(page, WHO)
    monkeypatch.setattr(_server, "LARGEST_REQUEST", 100)
    page.run("at('ask').requestSubmit()")
    page.wait("at('error').textContent.startsWith('the text is too large')")
    page.wait("at('verdict').textContent === ''")
    page.run("select(at('tab-next'))")
    page.wait("at('error').textContent === ''")
    page.run("select(at('tab-answer')); at('ask').requestSubmit()")
    page.wait("at('error').textContent !== ''")
    monkeypatch.undo()
    page.run("at('ask').requestSubmit()")
    page.wait(f"at('verdict').textContent.startsWith({json.dumps(ANSWER)})")
    assert page.run("at('error').textContent") == ""
    del page.messages[:]  # Chromium logs refused requests


@pytest.fixture
def telephone(page):
    page.call("Emulation.setDeviceMetricsOverride", width=320, height=600, deviceScaleFactor=1, mobile=False)
    yield page
    page.call("Emulation.clearDeviceMetricsOverride")


FITS = "document.documentElement.scrollWidth <= innerWidth"


def test_on_a_telephone_the_answer_stays_in_sight(telephone):
    page = telephone
    for tab in "classify", "next", "answer":
        page.run(f"select(at('tab-{tab}'))")
        assert page.run(FITS), tab
    page.run("show('x\\n'.repeat(200) + " + json.dumps(FOX) + ")")
    ask(page, WHO)
    page.wait("at('document').scrollTop > 100")
    assert page.run("scrollY") == 0
    inside = "(r => r.top >= 0 && r.bottom <= innerHeight)(%s.getBoundingClientRect())"
    assert page.run(inside % "at('verdict')")
    assert not page.run(inside % "document.querySelector('mark.best')")
    # The answer in the list leads to its place.
    page.run("at('answers').firstChild.firstChild.click()")
    page.wait(inside % "document.querySelector('mark.best')")


def test_on_a_telephone_long_words_are_broken(telephone):
    page = telephone
    page.run("tell('file', 'n'.repeat(240)); globalThis.long = 'w'.repeat(450)")
    page.run("at('answers').replaceChildren(item(long, 0.5, answer))")
    for impossible in "true", "false":
        page.run(f"judge({{ text: long, probability: 0.5 }}, {impossible}, '')")
        assert page.run(f"at('verdict').textContent.length > 450 && {FITS}"), impossible
    page.run("select(at('tab-classify')); at('details').hidden = !(at('details').open = true)")
    page.run("at('weights').append(element('tr', ''))")
    page.run("at('weights').rows[0].append(element('td', long), element('td', '-0.125'))")
    # The number beside it stays on one line.
    page.run("globalThis.range = new Range(); range.selectNodeContents(at('weights').rows[0].cells[1])")
    assert page.run(f"{FITS} && range.getClientRects().length") == 1


def test_hebrew_begins_on_the_right(page):
    page.run("show('\u05d0\u05e0\u05d4 \u05d7\u05ea\u05de\u05d4!')")
    left = """(place => { const range = document.createRange(), node = at('document').firstChild;
      range.setStart(node, place); range.setEnd(node, place + 1); return range.getBoundingClientRect().left })(%d)"""
    first, mark = (page.run(left % place) for place in (0, 8))
    assert mark < first
    ask(page, "\u05de\u05d9 \u05d7\u05ea\u05de\u05d4?")
    assert page.run("getComputedStyle(document.querySelector('#answers button')).unicodeBidi") == "plaintext"


def test_a_server_that_is_gone_is_said(chromium):
    # A process: a closed Server's threads still answer connections that the browser has opened ahead.
    with subprocess.Popen([sys.executable, "-m", "bertqa.demo"], stdout=subprocess.PIPE, text=True) as program:
        try:
            chromium.open(program.stdout.readline().strip())
            chromium.wait("at('document').textContent !== ''")
        finally:
            program.kill()
    chromium.run(f"at('question').value = {json.dumps(WHO)}; at('ask').requestSubmit()")
    chromium.wait("at('error').textContent === 'The program behind this page does not answer.'")
