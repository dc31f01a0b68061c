import assert from 'node:assert/strict';
import { firstDocument, keepDraft, keptDraft } from '../../src/editor/config-draft.ts';
import type { Entry } from '../../src/editor/config-document.ts';

const base: readonly Entry[] = [
  ['name', 'a'],
  ['topics', 't'],
  ['tasks.max', '1'],
];
const draft = {
  version: 'v1',
  base,
  entries: [
    ['name', 'a'],
    ['my.own', 'x'],
    ['tasks.max', '2'],
  ] as readonly Entry[],
  text: undefined,
};

describe('a draft of a configuration', () => {
  it('starts with the stored configuration, as fields and as text', () => {
    const stored = { version: 'v1', entries: base };
    assert.deepEqual(firstDocument(stored, undefined), { entries: base, text: undefined, isMoved: false });
    const found = firstDocument(stored, { ...draft, text: '{"name": ' });
    assert.deepEqual(found, { entries: draft.entries, text: '{"name": ', isMoved: false });
  });

  it('keeps only its own changes when another user has stored a newer configuration', () => {
    const stored = { version: 'v2', entries: [...base, ['batch.size', '7'] as const] };
    const { entries, isMoved } = firstDocument(stored, draft);
    assert.equal(isMoved, true);
    assert.deepEqual(Object.fromEntries(entries), { name: 'a', 'my.own': 'x', 'tasks.max': '2', 'batch.size': '7' });
  });

  it('shows the newer document as text; an invalid text is not changed', () => {
    const stored = { version: 'v2', entries: [...base, ['batch.size', '7'] as const] };
    const right = firstDocument(stored, { ...draft, text: JSON.stringify(Object.fromEntries(draft.entries)) });
    assert.match(right.text ?? '', /"batch\.size": "7"/);
    assert.equal(firstDocument(stored, { ...draft, text: '{"name": ' }).text, '{"name": ');
  });

  it('is kept for 50 connectors; the oldest draft is dropped', () => {
    for (let n = 0; n <= 50; n += 1) keepDraft(`c${String(n)}`, draft);
    assert.equal(keptDraft('c0'), undefined);
    assert.equal(keptDraft('c50'), draft);
    for (let n = 0; n <= 50; n += 1) keepDraft(`c${String(n)}`, undefined);
    assert.equal(keptDraft('c50'), undefined);
  });
});
