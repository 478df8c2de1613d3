// Runs Python, and ptxkit in it, next to the page. A request is {number, task, text, policy}; a reply {number, result or error}.
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function load(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} cannot be loaded: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

async function start() {
  const [python, ptxkit, lark, session] = await Promise.all([
    loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }),
    load("ptxkit.zip"), load("lark.zip"), load("session.py"),
  ]);
  python.unpackArchive(ptxkit, "zip");
  python.unpackArchive(lark, "zip");
  python.FS.writeFile("session.py", new Uint8Array(session));
  return python.pyimport("session");
}

const started = start();
const TASKS = {
  check: (session, { text, policy }) => session.check(text, policy),
  format: (session, { text }) => session.format_text(text),
  draw: (session, { text, policy }) => session.draw(text, policy),
};

started.then(() => postMessage({ number: 0 }), (error) => postMessage({ number: 0, error: error.message }));
addEventListener("message", async ({ data }) => {
  try {
    postMessage({ number: data.number, result: TASKS[data.task](await started, data) });
  } catch (error) {
    postMessage({ number: data.number, error: error.message });
  }
});
