'use strict';
// All of this is comfort: the page says everything without it. Nothing is put into the page but what the server sends, and
// nothing is read as HTML but documents of the same page.
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const one = (selector, from = document) => from.querySelector(selector);
  const rows = () => all('.bugs li').filter(row => !row.hidden);
  let at = -1;

  function go(to) {
    const list = rows();
    if (!list.length) return;
    all('.bugs li.here').forEach(row => row.classList.remove('here'));
    at = Math.max(0, Math.min(list.length - 1, to));
    list[at].classList.add('here');
    list[at].scrollIntoView({ block: 'nearest' });
  }

  // Filters: the server has its own; a page that is a file filters here.
  const form = one('form.filters');
  const local = form && form.hasAttribute('data-local');
  function filter() {
    const asked = new FormData(form);
    const words = String(asked.get('q') || '').toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    all('.bugs li').forEach(row => {
      const fits = ['compiler', 'version', 'level', 'symptom', 'state'].every(name => {
        const word = asked.get(name);
        return !word || (row.dataset[name] || '').split('\n').includes(word);
      });
      const text = row.textContent.toLowerCase();
      row.hidden = !(fits && words.every(word => text.includes(word)));
      shown += row.hidden ? 0 : 1;
    });
    const none = one('.nothing');
    if (none) none.hidden = shown > 0;
    at = -1;
  }
  if (form) {
    all('select', form).forEach(select => select.addEventListener('change', () => (local ? filter() : form.submit())));
    if (local) {
      form.addEventListener('submit', event => event.preventDefault());
      form.addEventListener('input', filter);
      filter();
    }
  }

  // In a file, a link to a bug opens it.
  function open() {
    const bug = location.hash.startsWith('#bug-') && document.getElementById(location.hash.slice(1));
    if (bug && bug.tagName === 'DETAILS') {
      bug.open = true;
      bug.scrollIntoView();
    }
  }
  addEventListener('hashchange', open);
  open();

  async function copy(button) {
    const from = document.getElementById(button.dataset.copy);
    if (!from) return;
    const text = 'value' in from ? from.value : from.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not every page may: then the text is selected, and the person copies.
      if (from.select) from.select(); else getSelection().selectAllChildren(from);
      return;
    }
    const said = button.textContent;
    button.textContent = 'copied';
    setTimeout(() => { button.textContent = said; }, 1200);
  }
  function save(button) {
    const from = document.getElementById(button.dataset.from);
    if (!from) return;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(['value' in from ? from.value : from.textContent], { type: 'text/plain' }));
    link.download = button.dataset.save;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 5000);
  }
  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.dataset.copy) copy(button);
    if (button.dataset.save) save(button);
  });

  const keys = one('.keys');
  const follow = selector => { const link = one(selector); if (link) link.click(); };
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === 'Escape') { event.target.blur(); keys && keys.classList.remove('shown'); return; }
    if (typing) return;
    const act = {
      j: () => go(at + 1),
      k: () => go(at - 1),
      Enter: () => { const row = rows()[at]; if (row && event.target === document.body) one('a', row).click(); },
      '/': () => { const field = one('form.filters input'); if (field) field.focus(); },
      u: () => follow('a[data-key=u]'),
      n: () => follow('a[data-key=n]'),
      p: () => follow('a[data-key=p]'),
      s: () => { const field = one('form.state select'); if (field) field.focus(); },
      b: () => follow('a[data-key=b]'),
      c: () => follow('a[data-key=c]'),
      '?': () => keys && keys.classList.toggle('shown'),
    }[event.key];
    if (!act) return;
    if (event.key !== 'Enter') event.preventDefault();
    act();
  });

  // What lives is fetched again while somebody looks.
  const every = Number(document.body.dataset.every || 0);
  async function renew() {
    if (document.hidden) return;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, credentials: 'same-origin' });
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      all('[data-live]').forEach(old => {
        const now = one(`[data-live="${old.dataset.live}"]`, fresh);
        if (!now || old.contains(document.activeElement) && document.activeElement !== document.body) return;
        old.replaceWith(document.adoptNode(now));
      });
      document.body.classList.remove('stale');
      if (at >= 0) go(at);
    } catch {
      document.body.classList.add('stale');
      all('.right').forEach(place => { place.textContent = 'the server does not answer'; });
    }
  }
  if (every) setInterval(renew, every * 1000);
})();
