"""The style of the page of traces, light and dark, and its script. No external file is used."""

from __future__ import annotations

PALETTE = """
:root { color-scheme: light; --page: #f6f7f9; --card: #ffffff; --ink: #1b2330; --soft: #5d6878; --line: #d5dae2;
  --grid: #eceff4; --fault: #bd2828; --other: #935700; --copy: #3d63c9; --join: #176f52; --mark: #fff2d8;
  --faultmark: #fde3e3; --othermark: #fdeed3; }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; --page: #12161c;
  --card: #1a2028; --ink: #e4e8ee; --soft: #97a3b4; --line: #3a4452; --grid: #252d38; --fault: #ff7b72;
  --other: #f0a94a; --copy: #85a5ff; --join: #4fc69b; --mark: #3a331f; --faultmark: #482428; --othermark: #41331c; } }
:root[data-theme="dark"] { color-scheme: dark; --page: #12161c; --card: #1a2028; --ink: #e4e8ee; --soft: #97a3b4;
  --line: #3a4452; --grid: #252d38; --fault: #ff7b72; --other: #f0a94a; --copy: #85a5ff; --join: #4fc69b;
  --mark: #3a331f; --faultmark: #482428; --othermark: #41331c; }
"""
"""The colors of all pages, light and dark. All text has a contrast of at least 4.5 to 1 to its background."""

STYLE = (
    PALETTE
    + """
* { box-sizing: border-box; }
body { margin: 0; padding: 20px 24px 40px; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
header { margin: 0 0 14px; display: flex; align-items: baseline; gap: 16px; flex-wrap: wrap; }
h1 { font-size: 18px; margin: 0; } h2 { font-size: 16px; margin: 0 0 4px; } h3 { font-size: 13px; margin: 0 0 8px;
  color: var(--soft); font-weight: 600; }
code, pre, .mono, svg .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "DejaVu Sans Mono",
  monospace; }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 10px; cursor: pointer; }
header button { margin-left: auto; }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 14px; }
nav button[aria-selected="true"] { border-color: var(--copy); box-shadow: inset 0 0 0 1px var(--copy); }
nav .error, .code.error { color: var(--fault); } nav .warning, .code.warning { color: var(--other); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px;
  margin: 0 0 18px; }
.how { color: var(--soft); margin: 0 0 12px; }
.missing { border-left: 4px solid var(--fault); background: var(--faultmark); padding: 8px 12px; margin: 0 0 12px;
  border-radius: 0 6px 6px 0; }
.both { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 420px); gap: 18px; align-items: start; }
@media (max-width: 1250px) { .both { grid-template-columns: minmax(0, 1fr); } }
.picture { overflow-x: auto; border: 1px solid var(--grid); border-radius: 8px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0 0 12px; font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--soft); }
th, td { padding: 3px 14px 3px 0; vertical-align: top; white-space: nowrap; }
tr.fault td:first-child { color: var(--fault); font-weight: 600; }
tr.other td:first-child { color: var(--other); font-weight: 600; }
@media (max-width: 700px) {
  .wide tr, .wide td { display: block; white-space: normal; overflow-wrap: anywhere; padding: 1px 0; }
  .wide tr { padding: 0 0 8px; }
  .wide th, .wide td:empty { display: none; }
  .wide td[data-head]::before { content: attr(data-head) " "; color: var(--soft); display: inline-block; width: 7em; }
}
pre { margin: 0; font-size: 12px; line-height: 1.55; border: 1px solid var(--grid); border-radius: 8px;
  padding: 8px 0; overflow-x: auto; tab-size: 4; }
pre span { display: block; padding: 0 10px; min-width: max-content; }
pre i { font-style: normal; color: var(--soft); display: inline-block; width: 4.2em; user-select: none; }
pre .fault { background: var(--faultmark); box-shadow: inset 3px 0 var(--fault); }
pre .other { background: var(--othermark); box-shadow: inset 3px 0 var(--other); }
pre .cut { color: var(--soft); } pre .lit { outline: 1px solid var(--copy); outline-offset: -1px; }
.left { color: var(--soft); margin: 12px 0 0; font-size: 13px; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 0 0 10px;
  color: var(--soft); font-size: 12px; }
ul.legend svg { vertical-align: -3px; margin-right: 5px; }
svg { display: block; } ul.legend svg { display: inline-block; }
svg text { font-size: 12px; fill: var(--ink); } svg .soft { fill: var(--soft); font-size: 11px; }
svg .strong { font-weight: 600; } svg text.fault { fill: var(--fault); } svg text.other { fill: var(--other); }
svg .life { stroke: var(--line); stroke-width: 1.5; } svg .grid { stroke: var(--grid); }
svg .band { fill: transparent; } svg .band.lit { fill: var(--grid); }
svg .band.fault { fill: var(--faultmark); } svg .band.other { fill: var(--othermark); }
svg .mark { fill: var(--card); stroke: var(--soft); stroke-width: 1.5; }
svg .mark.touch { fill: var(--ink); stroke: var(--ink); }
svg .mark.fault { fill: var(--fault); stroke: var(--fault); }
svg .mark.other { fill: var(--other); stroke: var(--other); }
svg .join { stroke: var(--join); stroke-width: 4; stroke-linecap: round; } svg .joint { fill: var(--join); }
svg .arrive { fill: var(--join); } svg .phase { stroke: var(--join); stroke-dasharray: 3 4; stroke-width: 1.5; }
svg .chip { fill: var(--card); stroke: var(--join); } svg .chip.commit { stroke: var(--copy); }
svg .copy { fill: var(--copy); fill-opacity: .25; stroke: var(--copy); stroke-width: 1.5; }
svg .copy.fault { fill: var(--fault); stroke: var(--fault); }
svg .copy.other { fill: var(--other); stroke: var(--other); }
svg .wire { stroke: var(--copy); stroke-width: 1.5; stroke-dasharray: 2 3; fill: none; }
svg .wire.fault { stroke: var(--fault); } svg .wire.other { stroke: var(--other); }
svg .lack { stroke: var(--fault); stroke-width: 2; stroke-dasharray: 7 5; fill: none; }
svg .lackbox { fill: none; stroke: var(--fault); stroke-width: 1.5; stroke-dasharray: 5 3; }
"""
)

SCRIPT = """
(function () {
  var root = document.documentElement;
  var articles = Array.from(document.querySelectorAll('article'));
  var buttons = Array.from(document.querySelectorAll('nav button'));
  function show(number) {
    articles.forEach(function (each, at) { each.hidden = at !== number; });
    buttons.forEach(function (each, at) { each.setAttribute('aria-selected', String(at === number)); });
  }
  function wanted() {
    var at = articles.findIndex(function (each) { return location.hash === '#show-' + each.id; });
    return at === -1 ? 0 : at;
  }
  buttons.forEach(function (each, at) {
    each.addEventListener('click', function () { location.hash = 'show-' + articles[at].id; show(at); });
  });
  window.addEventListener('hashchange', function () { show(wanted()); });
  if (articles.length) { show(wanted()); }
  document.getElementById('theme').addEventListener('click', function () {
    var dark = root.dataset.theme ? root.dataset.theme === 'dark'
      : window.matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });
  articles.forEach(function (article) {
    function light(line, on) {
      article.querySelectorAll('[data-line="' + line + '"]').forEach(function (each) {
        each.classList.toggle('lit', on);
      });
    }
    article.querySelectorAll('[data-line]').forEach(function (each) {
      each.addEventListener('mouseenter', function () { light(each.dataset.line, true); });
      each.addEventListener('mouseleave', function () { light(each.dataset.line, false); });
    });
  });
})();
"""
