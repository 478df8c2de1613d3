// The grammar: which scope each word of a few lines has.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import test from "node:test";

const require = createRequire(import.meta.url);
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");
const grammarFile = new URL("../syntaxes/ptx.tmLanguage.json", import.meta.url);

async function load() {
  await oniguruma.loadWASM((await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"))).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(await readFile(grammarFile, "utf8"), "ptx.tmLanguage.json"),
  });
  return registry.loadGrammar("source.ptx");
}

function words(grammar, line) {
  const found = {};
  for (const token of grammar.tokenizeLine(line, textmate.INITIAL).tokens) {
    const text = line.slice(token.startIndex, token.endIndex).trim();
    const scope = token.scopes.at(-1);
    if (text && scope !== "source.ptx") {
      found[text] = scope.replace(/\.ptx$/, "");
    }
  }
  return found;
}

const lines = {
  ".visible .entry scale(": { ".visible": "storage.modifier.directive", ".entry": "storage.modifier.directive", scale: "variable.other" },
  "\t@!%p1 bra $L__BB0_2;": { "@": "keyword.control.guard", "!": "keyword.operator.logical", "%p1": "variable.other.register", bra: "keyword.mnemonic", $L__BB0_2: "variable.other" },
  "$L__BB0_2: // loop": { $L__BB0_2: "entity.name.label", "// loop": "comment.line.double-slash" },
  "\tfma.rn.f32 %f1, %f2, 0f3F800000, 1.5;": { fma: "keyword.mnemonic", ".rn.f32": "storage.type.modifier", "%f1": "variable.other.register", "%f2": "variable.other.register", "0f3F800000": "constant.numeric.hex", 1.5: "constant.numeric" },
  "\tcp.async.bulk.global.shared::cta.bulk_group [%rd7], [tile+16], 64;": { cp: "keyword.mnemonic", ".async.bulk.global.shared::cta.bulk_group": "storage.type.modifier", "%rd7": "variable.other.register", tile: "variable.other", 16: "constant.numeric", 64: "constant.numeric" },
  '.file 1 "a.cu"': { ".file": "storage.modifier.directive", 1: "constant.numeric", '"': "string.quoted.double", "a.cu": "string.quoted.double" },
  "\tret;": { ret: "keyword.mnemonic" },
};

const grammar = await load();
for (const [line, expected] of Object.entries(lines)) {
  test(`colors ${line.trim()}`, () => assert.deepEqual(words(grammar, line), expected));
}
