import assert from 'node:assert/strict';
import { shownText } from '../../src/common/shown-text.ts';

describe('texts in the console', () => {
  it('name invisible characters, and those that change the direction of text', () => {
    assert.equal(shownText('\u202ecod.exe'), '‹U+202E›cod.exe');
    assert.equal(shownText('a\u200bb\0c\u001b[31m\ufeff'), 'a‹U+200B›b‹U+0000›c‹U+001B›[31m‹U+FEFF›');
    assert.equal(shownText('half \ud83d of a fox'), 'half ‹U+D83D› of a fox');
    assert.equal(shownText('tag \u{e0041}\u2028'), 'tag ‹U+E0041›‹U+2028›');
    assert.equal(shownText('or\u200dders \u200cx'), 'or‹U+200D›ders ‹U+200C›x');
  });

  it('are not changed without such characters', () => {
    for (const text of ['orders\n\tline\r\n', 'ünïcødé 🦊', '👩‍👩‍👧', 'می‌خواهم', 'שלום', '']) {
      assert.equal(shownText(text), text);
    }
  });

  it('are cut if they are too long for a page', () => {
    const shown = shownText('x'.repeat(5_000_000));
    assert.ok(shown.length < 100_100);
    assert.match(shown, /x… \(5,000,000 characters\)$/);
    assert.ok(shownText('\u202e'.repeat(5_000_000)).length < 1_000_000);
  });
});
