'use strict';
(() => {
  // All text goes in as text: nothing here makes markup of it.
  const make = (tag, name, text) => {
    const it = document.createElement(tag);
    if (name) it.className = name;
    if (text !== undefined) it.textContent = text;
    return it;
  };
  const data = (id) => {
    const it = document.getElementById(id);
    return it ? JSON.parse(it.textContent) : [];
  };

  // Copying.
  const copied = (button, well) => {
    const before = button.dataset.label || (button.dataset.label = button.textContent);
    button.textContent = well ? 'Copied' : 'Press Ctrl+C';
    button.classList.toggle('done', well);
    clearTimeout(button.timer);
    button.timer = setTimeout(() => { button.textContent = before; button.classList.remove('done'); }, 2000);
  };
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const byHand = (code) => {
    select(code);
    try { return document.execCommand('copy'); } catch (_) { return false; }
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button.copy');
    if (!button) return;
    const code = button.parentElement.querySelector('code');
    const done = (well) => copied(button, well);
    if (navigator.clipboard) {
      navigator.clipboard.writeText(code.textContent).then(() => done(true), () => done(byHand(code)));
    } else {
      done(byHand(code));
    }
  });

  // Unfolding rows of the logs.
  let rows;
  const side = (parts) => {
    if (!parts) return make('div', 'none');
    const [time, node, thread, level, message, exception, number] = parts;
    const it = make('div');
    it.title = 'line ' + number;
    it.append(make('span', 't', time));
    if (node) it.append(make('span', 'node', node));
    if (thread) it.append(make('span', 'thread', thread));
    if (level) it.append(make('span', 'level', level));
    it.append(make('span', 'm', message));
    if (exception) it.append(make('span', 'e', exception));
    return it;
  };
  const row = (value) => {
    if (value.length === 2) return make('div', value[0], value[1]);
    const it = make('div', value[0]);
    it.append(side(value[1]), side(value[2]));
    return it;
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button.unfold');
    if (!button) return;
    rows = rows || data('folded');
    const fold = button.parentElement;
    if (fold.nextElementSibling && fold.nextElementSibling.classList.contains('unfolded')) {
      fold.nextElementSibling.remove();
      button.setAttribute('aria-expanded', 'false');
      return;
    }
    const block = make('div', 'unfolded');
    rows.slice(+button.dataset.from, +button.dataset.to).forEach((it) => block.append(row(it)));
    fold.after(block);
    button.setAttribute('aria-expanded', 'true');
  });

  // Searching what was tried.
  const PAGE = 100;
  const search = document.getElementById('search');
  if (!search) return;
  const table = document.getElementById('tried-table');
  const body = table.tBodies[0];
  const shown = document.getElementById('shown');
  const more = document.getElementById('more');
  let tried, limit = 40;
  const cells = ([hit, texts]) => {
    const it = make('tr', hit ? 'hit' : '');
    texts.forEach((text, at) => {
      const cell = make('td');
      if (at === 2) {
        text.split('.').forEach((part, number) => {
          if (number) cell.append('.', make('wbr'));
          cell.append(part);
        });
      } else {
        cell.textContent = text;
      }
      it.append(cell);
    });
    return it;
  };
  const show = () => {
    tried = tried || data('tried-rows').map((it) => [it, it[1].join(' ').toLowerCase()]);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = tried.filter((it) => words.every((word) => it[1].includes(word)));
    body.replaceChildren(...fitting.slice(0, limit).map((it) => cells(it[0])));
    const of = fitting.length === 1 ? table.dataset.one : table.dataset.many;
    const all = fitting.length.toLocaleString('en') + ' ' + of;
    shown.textContent = fitting.length > limit ? limit + ' of ' + all : all;
    if (more) more.hidden = fitting.length <= limit;
  };
  search.addEventListener('input', () => { limit = PAGE; show(); });
  if (more) more.addEventListener('click', () => { limit += 5 * PAGE; show(); });
})();
