// The demo page. All texts become text nodes (textContent, createTextNode) and are never parsed as HTML.
"use strict";

const at = (id) => document.getElementById(id);
const token = document.querySelector("meta[name=token]").content;
const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");

// ---- Requests to the server

const running = {};
/** The number of requests so far. */
let count = 0;

/** Shows or clears the error message of one part; messages of other parts stay. */
function tell(what, message = "") {
  const error = at("error");
  if (!message && error.dataset.of !== what) return;
  error.dataset.of = what;
  error.textContent = message;
}

/** Clears the message of any part. */
const untell = () => tell(at("error").dataset.of);

/** Returns the server's value, null if a newer request of the same name has replaced this one, undefined on failure. */
async function ask(name, request = {}) {
  running[name]?.abort();
  const ours = (running[name] = new AbortController());
  try {
    const response = await fetch(name, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Bertqa-Token": token },
      body: JSON.stringify({ page, number: ++count, ...request }),
      signal: ours.signal,
    });
    const value = await response.json();
    if (value.cancelled || running[name] !== ours) return null;
    tell(name, value.error);
    return value.error ? undefined : value;
  } catch (error) {
    if (error.name === "AbortError") return null;
    tell(name, "The program behind this page does not answer.");
    return undefined;
  }
}

// ---- Elements

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const percent = (part) => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;

/** Returns a list item: a text, which can be clickable, and its probability as a bar and a number. */
function item(text, probability, press) {
  const made = document.createElement("li");
  if (press) {
    const button = element("button", text, { type: "button", "aria-label": `${text}, ${percent(probability)}` });
    button.addEventListener("click", press);
    made.append(button);
  } else {
    made.append(element("span", text, { class: "plain" }));
  }
  const bar = element("meter", "", { min: 0, max: 1, value: probability, "aria-label": `probability of ${text}` });
  made.append(bar, element("span", percent(probability), { class: "percent" }));
  return made;
}

/** Returns a text with ranges of it in elements. ranges: {start, end, make}, sorted, without overlaps. */
function withRanges(container, text, ranges) {
  const parts = [];
  let done = 0;
  for (const { start, end, make } of ranges) {
    if (start < done) continue;
    parts.push(document.createTextNode(text.slice(done, start)), make(text.slice(start, end)));
    done = end;
  }
  parts.push(document.createTextNode(text.slice(done)));
  container.replaceChildren(...parts);
}

// ---- Tabs: arrows, Home and End move between them

const tabs = [...document.querySelectorAll("[role=tab]")];

function select(tab) {
  untell();
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    at(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
  if (tab.id === "tab-next") showNext();
}

tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = tabs[(steps[event.key] + tabs.length) % tabs.length];
    select(next);
    next.focus();
  });
});

// ---- Answer

let text = "";

/** Shows a text; null for a collection, of which nothing is shown before it is asked. */
async function show(shown) {
  text = shown ?? "";
  untell();
  running.answer?.abort();
  running.collection?.abort();
  running.passage?.abort();
  at("document").textContent = text;
  at("document").scrollTop = 0;
  at("verdict").replaceChildren();
  at("answers").replaceChildren();
  at("suggested").replaceChildren();
  at("hits").replaceChildren();
  at("hits").hidden = shown !== null;
  at("answers").hidden = at("suggested").hidden = shown === null;
  if (shown === null) return;
  const found = await ask("suggest", { text });
  if (!found || text !== shown) return;
  at("suggested").replaceChildren(
    ...found.questions.map((question) => {
      const button = element("button", question, { type: "button" });
      button.addEventListener("click", () => {
        at("question").value = question;
        answer();
      });
      return button;
    }),
  );
}

async function answer() {
  const question = at("question").value.trim();
  if (!question) return at("question").focus();
  if (!(await arrived)) return;
  untell();
  if (collections.has(current)) return answerFrom(current, question);
  const asked = text;
  at("verdict").textContent = "Reading…";
  at("answers").replaceChildren();
  const found = await ask("answer", { text: asked, question });
  if (found === undefined) at("verdict").replaceChildren();
  if (!found || asked !== text) return;
  const [best] = found.answers;
  judge(best, found.impossible, "This document does not seem to say.");
  const kinds = found.answers.map((_, rank) => (rank > 0 ? "other" : found.impossible ? "guess" : "best"));
  const marks = found.answers.map((range, rank) => ({
    ...range,
    make: (part) => element("mark", part, { class: kinds[rank], id: `mark-${rank}` }),
  }));
  withRanges(at("document"), text, marks.sort((a, b) => a.start - b.start));
  at("answers").replaceChildren(
    ...found.answers.map((range, rank) => {
      const made = item(range.text, range.probability, () => {
        reveal(rank);
        showDocument();
      });
      if (found.impossible) made.classList.add("guess-text");
      return made;
    }),
  );
  if (best) reveal(0);
}

function judge(best, impossible, otherwise) {
  const verdict = at("verdict");
  verdict.replaceChildren();
  if (impossible || !best) {
    verdict.append(element("strong", otherwise));
    if (best) verdict.append(element("span", `Best guess: ${best.text}`, { class: "guess-text" }));
  } else {
    verdict.append(element("strong", best.text), element("span", percent(best.probability)));
  }
}

// ---- Answer from a collection

/** The positions of the collections among the documents. */
const collections = new Set();

async function answerFrom(index, question) {
  at("verdict").textContent = "Searching…";
  at("hits").replaceChildren();
  running.passage?.abort();
  const found = await ask("collection", { index, question });
  if (found === undefined) at("verdict").replaceChildren();
  if (!found || current !== index) return;
  const best = found.hits.find((hit) => hit.id === found.best);
  judge(best?.answers[0], found.impossible, found.hits.length ? "These passages do not seem to say." : "Nothing was found.");
  at("document").replaceChildren();
  at("hits").replaceChildren(
    ...found.hits.map((hit) => {
      const made = document.createElement("li");
      const button = element("button", "", { type: "button" });
      const place = element("span", "", { class: "place" });
      if (hit.title) place.append(element("bdi", hit.title), " (", element("bdi", hit.place), ")");
      else place.append(hit.place);
      button.append(place, element("span", hit.text, { class: "part" }));
      button.addEventListener("click", () => {
        openHit(index, hit, found.impossible);
        showDocument();
      });
      button.dataset.id = hit.id;
      made.append(button);
      return made;
    }),
  );
  if (best ?? found.hits[0]) openHit(index, best ?? found.hits[0], found.impossible);
}

/** Shows the document of a passage, with the passage and the best answer in it marked. */
async function openHit(index, hit, impossible) {
  for (const button of document.querySelectorAll("#hits button")) {
    button.setAttribute("aria-current", String(button.dataset.id === String(hit.id)));
  }
  const found = await ask("passage", { index, id: hit.id });
  if (!found || current !== index) return;
  withRanges(at("document"), found.text, [
    {
      ...found,
      make: (part) => {
        const made = element("mark", "", { class: "other", id: "hit" });
        const make = (best) => element("mark", best, { class: impossible ? "guess" : "best" });
        withRanges(made, part, hit.answers.slice(0, 1).map((range) => ({ ...range, make })));
        return made;
      },
    },
  ]);
  bring(at("hit"));
}

/** Scrolls the document to one of its elements. The page stays where it is: the answer may be above the document. */
function bring(made) {
  const box = at("document");
  const [outer, inner] = [box.getBoundingClientRect(), made.getBoundingClientRect()];
  box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
}

function showDocument() {
  at("document").scrollIntoView({ block: "nearest" });
}

function reveal(rank) {
  [...at("answers").children].forEach((made, index) =>
    made.firstChild.setAttribute("aria-current", String(index === rank)),
  );
  const mark = at(`mark-${rank}`);
  if (mark) bring(mark);
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
at("documents").addEventListener("change", () => choose(at("documents").selectedIndex));
at("paste-button").addEventListener("click", () => {
  const hidden = (at("paste").hidden = !at("paste").hidden);
  at("paste-button").setAttribute("aria-expanded", String(!hidden));
  if (!hidden) at("pasted").focus();
});
at("paste").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!add(`Pasted text ${pastes + 1}`, at("pasted").value)) return;
  pastes += 1;
  at("paste-button").click();
  at("question").focus();
});
at("file").addEventListener("change", async () => {
  const [file] = at("file").files;
  if (!file) return;
  at("file").value = "";
  if (!fits(file.name, file.size)) return;
  const data = await file.arrayBuffer().catch(() => null);
  if (!data) return tell("file", `${file.name}: cannot be read`);
  let read;
  try {
    read = new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return tell("file", `${file.name}: not a text in UTF-8`);
  }
  add(file.name, read);
});

/** The texts of this page by their position in the list; null if the server has the text. */
const texts = [];
/** The number of texts that were pasted. */
let pastes = 0;
/** The maximum size of a text in bytes, which the server tells. */
let largest;

/** Returns true if a text of so many bytes can be added; otherwise says why not. */
function fits(name, size) {
  if (size > 0 && size <= largest) return true;
  tell("file", `${name}: ${size > 0 ? `larger than ${largest >> 20} MiB` : "empty"}`);
  return false;
}

/** Returns true if the text was added to the list. */
function add(name, added) {
  if (!fits(name, new Blob([added]).size)) return false;
  texts.push(added);
  at("documents").append(element("option", name));
  at("documents").selectedIndex = texts.length - 1;
  choose(texts.length - 1);
  return true;
}

/** The position of the document shown; -1: none. */
let current = -1;
/** Becomes true when the document chosen last is shown, false if another is. Questions wait for it. */
let arrived;

/** Shows a document of the list. */
function choose(index) {
  arrived = arrive(index);
}

async function arrive(index) {
  const list = at("documents");
  if (texts[index] === null && !collections.has(index)) {
    const found = await ask("document", { index });
    if (found) texts[index] = found.text;
    else if (found === undefined && list.selectedIndex === index) {
      // The list says what is shown.
      list.selectedIndex = current;
      arrived = current >= 0;
    }
    if (!found || list.selectedIndex !== index) return false;
  }
  current = index;
  show(texts[index]);
  return true;
}

// ---- Classify

at("classify").addEventListener("submit", async (event) => {
  event.preventDefault();
  const classified = at("classified").value;
  const found = await ask("classify", { text: classified });
  if (!found) return;
  const [best] = found.labels;
  const verdict = element("strong", best && !found.tooShort ? best.label : "The text is too short to say.");
  at("class").replaceChildren(verdict);
  if (best && !found.tooShort) at("class").append(` ${percent(best.probability)}`);
  at("labels").replaceChildren(...found.labels.map((label) => item(label.label, label.probability)));
  const words = found.words.sort((a, b) => a.start - b.start);
  const most = Math.max(...words.map((word) => Math.abs(word.weight)), 1e-9);
  withRanges(
    at("weighed"),
    classified,
    words.map((word) => ({
      ...word,
      make: (part) => {
        const made = element("span", part, {
          class: `weighed-word ${word.weight < 0 ? "against" : "for"}`,
          title: word.weight.toFixed(3),
        });
        made.style.setProperty("--share", (0.1 + 0.7 * Math.abs(word.weight) / most).toFixed(3));
        return made;
      },
    })),
  );
  at("weights").replaceChildren(
    ...[...words]
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
      .map((word) => {
        const row = document.createElement("tr");
        row.append(element("td", classified.slice(word.start, word.end)), element("td", word.weight.toFixed(3)));
        return row;
      }),
  );
  at("legend").hidden = at("details").hidden = words.length === 0;
});

// ---- Continue

/** The words shown, and the text that they continue. */
let following = [];
let continued = null;
let separator = " ";

async function showNext() {
  const asked = at("begun").value;
  const found = await ask("next", { text: asked });
  if (!found) return;
  following = found.words;
  continued = asked;
  separator = found.separator;
  at("following").textContent = !following.length
    ? "Type a first word."
    : `${found.unknown ? "The model does not know the last word. " : ""}Most probable: ` +
      `${following[0].end ? "the end of the text" : following[0].word}, ${percent(following[0].probability)}`;
  const buttons = at("words").getElementsByTagName("button");
  const focused = [...buttons].indexOf(document.activeElement);
  at("words").replaceChildren(
    ...following.map((word) => item(word.end ? "(end of the text)" : word.word, word.probability, () => append(word))),
  );
  if (focused >= 0) (buttons[focused] ?? at("begun")).focus();
}

function append(word) {
  const begun = at("begun");
  // After a change of the text the words shown are not those that follow.
  if (!word || word.end || begun.value !== continued) return;
  begun.value = separator ? `${begun.value.trimEnd()}${separator}${word.word}` : begun.value + word.word;
  showNext();
}

at("begun").addEventListener("input", showNext);
at("continue").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (at("begun").value !== continued) await showNext();
  append(following[0]);
});

// ---- Start

arrived = (async () => {
  const found = await ask("documents");
  if (!found) return false;
  largest = found.largest;
  for (const index of found.collections) collections.add(index);
  for (const name of found.names) {
    texts.push(null);
    at("documents").append(element("option", name));
  }
  // Before, a text would take the place of one of these in the list.
  at("file").disabled = at("paste-button").disabled = false;
  at("question").focus();
  choose(0);
  return arrived;
})();
