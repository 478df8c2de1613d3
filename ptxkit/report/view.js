(function () {
  'use strict';
  var root = document.documentElement;
  root.classList.add('js');

  function one(selector, inside) { return (inside || document).querySelector(selector); }
  function all(selector, inside) { return Array.from((inside || document).querySelectorAll(selector)); }
  function on(element, kind, act) { if (element) { element.addEventListener(kind, act); } }

  var here = null;  // the line that was gone to

  // ------------------------------------------------------------------------------------------- light and dark

  var kept = 'ptxkit-theme';
  try {
    var before = window.localStorage.getItem(kept);
    if (before === 'light' || before === 'dark') { root.dataset.theme = before; }
  } catch (error) { /* a page opened from a file may have no storage: then nothing is remembered */ }

  function switchTheme() {
    var dark = root.dataset.theme ? root.dataset.theme === 'dark'
      : window.matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { window.localStorage.setItem(kept, root.dataset.theme); } catch (error) { /* no storage: the choice is lost */ }
  }
  on(one('#theme'), 'click', switchTheme);

  // ---------------------------------------------------------------------------------------- tabs and functions

  var tabs = all('[role="tab"]');
  var heads = all('.facts');
  var choice = one('#function');
  var shown = heads.length ? 1 : 0;

  function showTab(name) {
    tabs.forEach(function (tab) {
      var chosen = tab.getAttribute('aria-controls') === name;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      one('#' + tab.getAttribute('aria-controls')).hidden = !chosen;
    });
    heads.forEach(function (head) { head.classList.toggle('away', name === 'findings'); });
    showFunction(shown);
    if (here) { mark(Number(here.id.slice(1))); } else { center(); }
  }

  /* Scrolls the first block to the middle of the drawing. */
  function center() {
    all('#graph .canvas').forEach(function (canvas) {
      var entry = one('.entry rect', canvas);
      if (!entry || !canvas.clientWidth) { return; }
      canvas.scrollLeft = Number(entry.getAttribute('x')) + Number(entry.getAttribute('width')) / 2
        - canvas.clientWidth / 2;
    });
  }

  function showFunction(number) {
    if (number < 1 || number > heads.length) { return; }
    shown = number;
    var findings = !one('#findings').hidden;
    all('[data-function]').forEach(function (each) {
      var own = Number(each.dataset.function) === number;
      each.hidden = !own || (findings && each.classList.contains('facts'));
    });
    if (choice) { choice.value = String(number); one('#choice').hidden = findings; }
  }

  tabs.forEach(function (tab, at) {
    on(tab, 'click', function () { showTab(tab.getAttribute('aria-controls')); });
    on(tab, 'keydown', function (event) {
      var step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (!step) { return; }
      var next = tabs[(at + step + tabs.length) % tabs.length];
      showTab(next.getAttribute('aria-controls'));
      next.focus();
    });
  });

  function goToFunction(number) {
    if (number < 1 || number > heads.length) { return; }
    showFunction(number);
    goToLine(Number(heads[number - 1].dataset.from));
  }
  on(choice, 'change', function () { goToFunction(Number(choice.value)); });
  on(one('#before'), 'click', function () { goToFunction(shown - 1); });
  on(one('#after'), 'click', function () { goToFunction(shown + 1); });

  /* Of the drawings of a function, shows one: all blocks, its loops as one block each, or one loop. */
  function showLevel(level) {
    all(':scope > .level', level.parentElement).forEach(function (each) { each.hidden = each !== level; });
    all(':scope > .levels a', level.parentElement).forEach(function (link) {
      link.classList.toggle('chosen', link.getAttribute('href') === '#' + level.id);
    });
  }
  all('.level:not(.part)').forEach(function (level) {
    var top = one(':scope > .level.part', level.parentElement);
    showLevel(top && all('.block', level).length > 24 ? top : level);
  });

  // ----------------------------------------------------------------------------------------------------- panes

  /* A narrow window has room for one pane: the program, the PTX or the pictures. */
  function showPane(name) {
    root.dataset.pane = name;
    all('#panes button').forEach(function (each) { each.setAttribute('aria-pressed', String(each.value === name)); });
  }
  all('#panes button').forEach(function (button) {
    on(button, 'click', function () {
      showPane(button.value);
      if (button.value === 'panel' && here) { mark(Number(here.id.slice(1))); }
      if (button.value !== 'panel' && here) { reveal(here); tie(here, true); }
    });
  });

  /* The lines that a compiler writes in any case are folded until they are asked for. */
  function fold(isFolded) {
    root.classList.toggle('folded', isFolded);
    if (one('#fold')) { one('#fold').setAttribute('aria-pressed', String(!isFolded)); }
  }
  on(one('#fold'), 'click', function () {
    fold(!root.classList.contains('folded'));
    if (here) { reveal(here); }
  });

  // ----------------------------------------------------------------------------------------------- the program

  var tied = [];
  function untie() {
    tied.forEach(function (each) { each.classList.remove('tied'); });
    tied = [];
  }

  function linesOf(row) {
    var found = [];
    (row.dataset.ptx || '').split(' ').forEach(function (range) {
      var ends = range.split('-').map(Number);
      for (var number = ends[0]; number && number <= (ends[1] || ends[0]); number += 1) {
        if (lineOf(number)) { found.push(lineOf(number)); }
      }
    });
    return found;
  }

  /* Marks what belongs to a line, of the PTX or of the program. isRevealed: and scrolls there. */
  function tie(row, isRevealed) {
    untie();
    var source = row.dataset.src ? document.getElementById('S' + row.dataset.src) : null;
    var own = source || row;
    tied = linesOf(own).concat(own.dataset.ptx ? [own] : []);
    tied.forEach(function (each) { each.classList.add('tied'); });
    if (isRevealed && source) { reveal(source); }
    if (isRevealed && !source && tied.length > 1) { reveal(tied[0]); }
  }

  /* Scrolls a line to the middle of its pane. */
  function reveal(row) {
    row.scrollIntoView({ block: 'center', inline: 'start' });
    row.scrollIntoView({ block: 'center', inline: 'start' });  // the first one lays out what was not yet seen
  }

  ['#program', '#listing'].forEach(function (name) {
    on(one(name), 'mouseover', function (event) {
      var row = event.target.closest('li[data-src], li[data-ptx]');
      if (row) { tie(row, false); }
    });
    on(one(name), 'mouseleave', function () { if (here) { tie(here, false); } else { untie(); } });
  });

  on(one('#program'), 'click', function (event) {
    var row = event.target.closest('li[data-ptx]');
    if (row && !event.target.closest('a') && !String(window.getSelection())) { goToProgram(row); }
  });

  /* Goes to the first line of the PTX that a line of the program became. */
  function goToProgram(row) {
    var found = linesOf(row);
    var first = found.find(function (each) { return !each.classList.contains('fold'); }) || found[0];
    if (!first) { reveal(row); return; }
    goToLine(Number(first.id.slice(1)));
    choose(Number(first.id.slice(1)));
  }

  // -------------------------------------------------------------------------------------------------- the text

  function lineOf(number) { return document.getElementById('L' + number); }

  function goToLine(number) {
    var line = lineOf(number);
    if (!line) { return false; }
    if (here) { here.classList.remove('here'); }
    here = line;
    line.classList.add('here');
    showPane('listing');
    if (line.classList.contains('fold')) { fold(false); }
    reveal(line);
    tie(line, true);
    return true;
  }

  /* Chooses the function of a line, and marks the line in the pictures. */
  function choose(line) {
    var owner = functionAt(line);
    if (owner) { showFunction(owner); }
    mark(line);
  }

  function functionAt(line) {
    var found = heads.findIndex(function (head) {
      return Number(head.dataset.from) <= line && line <= Number(head.dataset.to);
    });
    return found + 1;
  }

  var lit = [];
  function light(from, to) {
    lit.forEach(function (line) { line.classList.remove('lit'); });
    lit = [];
    for (var number = from; number <= Math.min(to, from + 4000); number += 1) {
      var line = lineOf(number);
      if (line) { line.classList.add('lit'); lit.push(line); }
    }
  }

  function follow() { goTo(decodeURIComponent(location.hash.slice(1))); }

  function goTo(hash) {
    var line = /^L(\d+)$/.exec(hash);
    var kernel = /^f-(\d+)$/.exec(hash);
    if (line) {
      goToLine(Number(line[1]));
      choose(Number(line[1]));
    } else if (/^S\d+-\d+$/.test(hash) && document.getElementById(hash)) {
      showPane('program');
      reveal(document.getElementById(hash));
      tie(document.getElementById(hash), false);
    } else if (/^g\d+-\w+$/.test(hash) && document.getElementById(hash)) {
      showPane('panel');
      showFunction(Number(document.getElementById(hash).closest('[data-function]').dataset.function));
      showLevel(document.getElementById(hash));
      if (one('#graph').hidden) { showTab('graph'); }
      center();
    } else if (kernel) {
      goToFunction(Number(kernel[1]));
    } else if (/^d\d+$/.test(hash)) {
      var finding = document.getElementById(hash);
      var held = finding ? finding.closest('li') : null;
      if (held) {
        goToLine(Number(held.id.slice(1)));
        choose(Number(held.id.slice(1)));
        finding.scrollIntoView({ block: 'nearest' });
        one('#listing').scrollLeft = 0;
      }
    } else if (hash === 'findings' || hash === 'graph' || hash === 'transfers') {
      showPane('panel');
      showTab(hash);
    }
  }

  /* Marks what the panel shows of a line: the row of the chart, or the block, that holds it or is the next. */
  function mark(line) {
    all('#panel .here').forEach(function (each) { each.classList.remove('here'); });
    function size(each) { return Number(each.dataset.to) - Number(each.dataset.from); }
    function distance(each) {
      return Math.max(Number(each.dataset.from) - line, line - Number(each.dataset.to), 0);
    }
    var near = all('#transfers tr[data-from], #graph a.block').filter(function (each) {
      return !each.closest('[hidden]');
    });
    near.sort(function (one, other) { return distance(one) - distance(other) || size(one) - size(other); });
    if (near.length) {
      if (distance(near[0]) === 0) { near[0].classList.add('here'); }
      near[0].scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }

  on(document, 'click', function (event) {
    var link = event.target.closest ? event.target.closest('a') : null;
    var target = link ? link.getAttribute('href') : null;
    if (!target || target.charAt(0) !== '#') { return; }
    if (link.dataset.from) {
      light(Number(link.dataset.from), Number(link.dataset.to));
    } else {
      light(1, 0);
    }
    if (location.hash === target) { event.preventDefault(); follow(); }
  });
  on(window, 'hashchange', follow);

  on(one('#listing'), 'click', function (event) {
    var line = event.target.closest('li[id]');
    if (!line || event.target.closest('a, aside') || String(window.getSelection())) { return; }
    if (here) { here.classList.remove('here'); }
    here = line;
    line.classList.add('here');
    tie(line, true);
    choose(Number(line.id.slice(1)));
  });

  // ----------------------------------------------------------------------------------------------------- search

  var query = one('#query');
  var matches = one('#matches');
  var lines = null;
  var texts = null;
  var hits = [];
  var current = -1;
  var MOST = 5000;

  function gather() {
    if (lines) { return; }
    lines = all('.text > div > ol > li');
    texts = lines.map(function (line) { return (one(':scope > code', line) || line).textContent; });
  }

  function expression(words) {
    var escaped = words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(/^%[\w$]*\d$/.test(words) ? escaped + '(?![\\w$])' : escaped, 'gi');
  }

  function rangeOf(hit) {
    var host = one(':scope > code', lines[hit.line]) || lines[hit.line];
    var nodes = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
    var range = document.createRange();
    var at = 0;
    var node = nodes.nextNode();
    var begun = false;
    while (node) {
      var end = at + node.data.length;
      if (!begun && hit.start < end) { range.setStart(node, hit.start - at); begun = true; }
      if (begun && hit.end <= end) { range.setEnd(node, hit.end - at); return range; }
      at = end;
      node = nodes.nextNode();
    }
    return null;
  }

  function paint() {
    all('.text li.hit').forEach(function (line) { line.classList.remove('hit'); });
    if (!window.CSS || !CSS.highlights || !window.Highlight) {
      hits.forEach(function (hit) { lines[hit.line].classList.add('hit'); });
      return;
    }
    CSS.highlights.clear();
    if (!hits.length) { return; }
    var ranges = hits.map(rangeOf);
    CSS.highlights.set('hit', new Highlight(...ranges.filter(function (each) { return each; })));
    if (current >= 0 && ranges[current]) { CSS.highlights.set('hitnow', new Highlight(ranges[current])); }
  }

  function say() {
    if (!query.value) { matches.textContent = ''; return; }
    var more = hits.length === MOST ? '+' : '';
    matches.textContent = hits.length ? (current + 1) + ' of ' + hits.length + more : 'no match';
  }

  function search() {
    gather();
    hits = [];
    current = -1;
    var words = query.value.trim();
    if (words) {
      var wanted = expression(words);
      for (var at = 0; at < texts.length && hits.length < MOST; at += 1) {
        wanted.lastIndex = 0;
        var found = wanted.exec(texts[at]);
        while (found && found[0] && hits.length < MOST) {
          hits.push({ line: at, start: found.index, end: found.index + found[0].length });
          found = wanted.exec(texts[at]);
        }
      }
    }
    paint();
    say();
  }

  function step(by) {
    var words = query.value.trim();
    if (/^\d+$/.test(words) && current === -1 && lineOf(Number(words))) {
      goToLine(Number(words));
      current = hits.findIndex(function (hit) { return hit.line >= Number(words) - 1; }) - (by > 0 ? 1 : 0);
      matches.textContent = 'line ' + words;
      current = Math.max(current, -2);
      if (hits.length === 0) { current = -1; return; }
      if (current < 0) { current = -1; }
      return;
    }
    if (!hits.length) { say(); return; }
    current = (current + by + hits.length) % hits.length;
    if (current < 0) { current = hits.length - 1; }
    goToLine(Number(lines[hits[current].line].id.slice(1)));
    paint();
    say();
  }

  var later = 0;
  on(query, 'input', function () { clearTimeout(later); later = setTimeout(search, 120); });
  on(one('#search'), 'submit', function (event) {
    event.preventDefault();
    clearTimeout(later);
    var fresh = current === -1;
    if (fresh) { search(); }
    step(1);
  });
  on(query, 'keydown', function (event) {
    if (event.key === 'Enter' && event.shiftKey) { event.preventDefault(); step(-1); }
    if (event.key === 'Escape') { query.value = ''; search(); query.blur(); }
  });
  on(one('#previous'), 'click', function () { step(-1); });

  on(document, 'keydown', function (event) {
    var name = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || name === 'INPUT' || name === 'SELECT') { return; }
    if (event.key === '/') { event.preventDefault(); query.focus(); query.select(); }
    if (event.key === 'n') { step(1); }
    if (event.key === 'N') { step(-1); }
    if (event.key === '[') { goToFunction(shown - 1); }
    if (event.key === ']') { goToFunction(shown + 1); }
  });

  // ----------------------------------------------------------------------------------------------------- filter

  var boxes = all('#filter input');
  var code = one('#code');

  function filter() {
    var severities = boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.value; });
    all('[data-severity]').forEach(function (each) {
      var wanted = severities.indexOf(each.dataset.severity) !== -1;
      each.hidden = !wanted || (code.value !== '' && each.dataset.code !== code.value);
    });
  }
  boxes.forEach(function (box) { on(box, 'change', filter); });
  on(code, 'change', filter);

  // ------------------------------------------------------------------------------------------------------- bars

  function bars(name, lit) {
    all('[data-bar="' + name + '"]').forEach(function (each) { each.classList.toggle('lit', lit); });
  }
  ['mouseover', 'mouseout', 'focusin', 'focusout'].forEach(function (kind) {
    on(one('#transfers'), kind, function (event) {
      var bar = event.target.closest('[data-bar]');
      if (bar) { bars(bar.dataset.bar, kind === 'mouseover' || kind === 'focusin'); }
    });
  });

  // ------------------------------------------------------------------------------------------------------- zoom

  all('#graph .canvas').forEach(function (canvas) {
    var drawing = one('svg', canvas);
    var width = Number(drawing.getAttribute('width'));
    var height = Number(drawing.getAttribute('height'));
    var scale = 1;
    function zoom(to) {
      scale = Math.min(Math.max(to, 0.1), 2);
      drawing.setAttribute('width', String(width * scale));
      drawing.setAttribute('height', String(height * scale));
    }
    var row = document.createElement('div');
    row.className = 'zoom';
    [['\u2212', 'smaller', function () { zoom(scale / 1.25); }],
      ['+', 'larger', function () { zoom(scale * 1.25); }],
      ['1:1', 'as drawn', function () { zoom(1); }],
      ['fit', 'as wide as the panel', function () { zoom(canvas.clientWidth / width); }]].forEach(function (each) {
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = each[0];
      button.title = each[1];
      button.setAttribute('aria-label', each[1]);
      on(button, 'click', each[2]);
      row.appendChild(button);
    });
    canvas.before(row);
  });

  // ------------------------------------------------------------------------------------------------------ start

  showPane('listing');
  fold(true);
  showTab(one('#transfers .lanes') ? 'transfers' : one('#graph .cfg .block') ? 'graph' : 'findings');
  if (location.hash) {
    follow();
  } else if (one('#d1')) {
    goTo('d1');
  } else if (one('ul.open a')) {
    goTo(one('ul.open a').getAttribute('href').slice(1));
  } else if (heads.length) {
    lineOf(Number(heads[0].dataset.from)).scrollIntoView({ block: 'start' });
  }
})();
