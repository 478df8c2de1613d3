// The page of the playground. Texts and findings are data: they become text nodes, never markup.
import { fromFragment, toFragment } from "./shared_text.mjs";

const PAUSE = 400; // milliseconds without a key before a check
const one = (id) => document.getElementById(id);
const [text, gutter, policy, status] = ["text", "gutter", "policy", "status"].map(one);
const codes = document.querySelector("meta[name=codes]").content;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function show(state, message) {
  document.body.dataset.state = state;
  status.textContent = message;
  one("stop").hidden = state !== "busy";
}

// ------------------------------------------------------------------------------------------------ the worker

let worker, waiting, last;

function start() {
  worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  waiting = new Map();
  last = 0;
  worker.addEventListener("message", ({ data }) => {
    if (data.number === 0 && data.error) show("failed", `Python cannot be started: ${data.error}`);
    const { resolve, reject } = waiting.get(data.number) ?? {};
    waiting.delete(data.number);
    if (resolve) data.error === undefined ? resolve(data.result) : reject(new Error(data.error));
  });
  worker.addEventListener("error", (event) => show("failed", `Python cannot be started: ${event.message ?? "no file"}`));
}

function ask(task) {
  const number = ++last;
  worker.postMessage({ number, task, text: text.value, policy: policy.value });
  return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
}

// ------------------------------------------------------------------------------------------------ the editor

let marks = new Map(); // line -> severity

function number() {
  const count = text.value.split("\n").length;
  const parts = [];
  let plain = "";
  for (let line = 1; line <= count; line++) {
    if (marks.has(line)) {
      parts.push(plain, element("b", { class: marks.get(line) }, String(line)));
      plain = "\n";
    } else {
      plain += `${line}\n`;
    }
  }
  gutter.replaceChildren(...parts, plain);
  gutter.scrollTop = text.scrollTop;
}

function goTo(line) {
  const start = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const end = text.value.indexOf("\n", start);
  text.focus();
  text.setSelectionRange(start, end < 0 ? text.value.length : end);
  text.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(text).lineHeight));
}

function lineButton(line) {
  const button = element("button", { type: "button", class: "line" }, `line ${line}`);
  button.addEventListener("click", () => goTo(line));
  return button;
}

// ------------------------------------------------------------------------------------------------ the findings

/** The lines that a finding names, each with the text that it shows below it. */
function excerpt(item, lines) {
  const main = { line: item.line, column: item.column, message: item.message, main: true };
  const places = [...item.labels, main].sort((left, right) => left.line - right.line);
  const width = String(places.at(-1).line).length;
  const made = element("pre", { tabindex: "0", "aria-label": "The lines of this finding" });
  let before = 0;
  for (const place of places) {
    const written = lines[place.line - 1] ?? "";
    if (before && place.line > before + 1) made.append(`${" ".repeat(width)} ...\n`);
    if (place.line !== before) made.append(`${String(place.line).padStart(width)} | ${written}\n`);
    before = place.line;
    const indent = written.slice(0, place.column - 1).replace(/[^\t]/g, " ");
    const kind = place.main ? item.severity : "label";
    made.append(`${" ".repeat(width)} | `, element("span", { class: kind }, `${indent}^ ${place.message}`), "\n");
  }
  return made;
}

function code(item) {
  const name = `${item.code} ${item.severity ?? ""}`.trim();
  return codes ? element("a", { href: `${codes}${item.code}.html`, target: "_blank" }, name) : name;
}

function findingItem(item, lines) {
  const head = element("p", { class: item.severity }, element("strong", {}, code(item)), ` ${item.message} `, lineButton(item.line));
  const made = element("li", {}, head, excerpt(item, lines));
  for (const note of item.notes) made.append(element("p", { class: "soft" }, `note: ${note}`));
  if (item.help) made.append(element("p", {}, `help: ${item.help}`));
  return made;
}

function report(result, written) {
  const lines = written.split("\n");
  const { diagnostics, undecided = [] } = result.files[0];
  one("findings").replaceChildren(...diagnostics.map((item) => findingItem(item, lines)));
  one("questions").replaceChildren(
    ...undecided.map((item) => element("li", {}, element("strong", {}, code(item)), ` ${item.message} `, lineButton(item.line))),
  );
  marks = new Map();
  for (const item of diagnostics) if (marks.get(item.line) !== "error") marks.set(item.line, item.severity);
  number();
  const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  return `${counted(diagnostics.length, "finding")}, ${counted(undecided.length, "open question")}`;
}

// ------------------------------------------------------------------------------------------------ checks

let timer, running = false, stale = false;

async function check() {
  if (running) { stale = true; return; }
  running = true;
  do {
    stale = false;
    const written = text.value;
    const begun = performance.now();
    show("busy", last ? "Checking ..." : "Loading Python and ptxkit ...");
    try {
      const counts = report(JSON.parse(await ask("check")), written);
      const seconds = (performance.now() - begun) / 1000;
      if (one("pictures").open && !stale) one("picture").srcdoc = await ask("draw");
      document.body.dataset.seconds = seconds.toFixed(3);
      if (!stale) show("done", `${counts}, in ${seconds.toFixed(1)} s`);
    } catch (error) {
      show("failed", `The check failed: ${error.message}`);
    }
  } while (stale);
  running = false;
}

function checkSoon() {
  clearTimeout(timer);
  if (text.value.trim()) timer = setTimeout(check, PAUSE);
}

function place(written) {
  text.value = written;
  marks = new Map();
  number();
  text.scrollTop = text.scrollLeft = 0;
  clearTimeout(timer);
  check();
}

// ------------------------------------------------------------------------------------------------ events

text.addEventListener("input", () => { marks = new Map(); number(); checkSoon(); });
text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
policy.addEventListener("change", check);
one("pictures").addEventListener("toggle", (event) => { if (event.target.open) check(); });

one("format").addEventListener("click", async () => {
  const written = text.value;
  try {
    const result = JSON.parse(await ask("format"));
    if (text.value !== written) return; // it was changed meanwhile
    if (result.text === undefined) show("done", `The text cannot be formatted: ${report(result, written)}`);
    else if (result.text !== written) place(result.text);
    else show("done", "The text is formatted.");
  } catch (error) {
    show("failed", `The text cannot be formatted: ${error.message}`);
  }
});

one("share").addEventListener("click", async () => {
  history.replaceState(null, "", await toFragment(text.value, policy.value));
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = "The link with the text is in the clipboard.";
  } catch {
    status.textContent = "The link with the text is in the address bar.";
  }
});

one("stop").addEventListener("click", () => {
  worker.terminate();
  for (const { reject } of waiting.values()) reject(new Error("it was stopped"));
  start();
});

async function openLink() {
  try {
    const shared = await fromFragment(location.hash);
    if (shared === null) return false;
    if ([...policy.options].some((each) => each.value === shared.policy)) policy.value = shared.policy;
    place(shared.text);
  } catch (error) {
    show("failed", `The link cannot be read: ${error.message}`);
  }
  return true;
}

addEventListener("hashchange", openLink);

start();
const linked = await openLink();
const groups = await (await fetch(new URL("examples.json", import.meta.url))).json();
const examples = groups.flatMap((group) => group.examples);
let index = 0;
for (const group of groups) {
  const options = group.examples.map((each) => element("option", { value: String(index++) }, each.name));
  one("examples").append(element("optgroup", { label: group.title }, ...options));
}
one("examples").addEventListener("change", ({ target }) => { if (target.value) place(examples[target.value].text); });
if (!linked && !text.value) place(examples[0].text);
