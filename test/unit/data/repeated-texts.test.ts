import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hashOf, RepeatedTexts } from '../../../src/data/repeated-texts.ts';

function hash(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at++) value = hashOf(value, text.charCodeAt(at));
  return value;
}

describe('repeated texts', () => {
  it('are the texts at these positions, regardless of earlier ones', () => {
    const text = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ minLength: 60, maxLength: 70 }), fc.constant('aé€'));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
        const repeated = new RepeatedTexts();
        for (const each of texts) {
          assert.equal(repeated.of(`<${each}>`, 1, 1 + each.length, hash(each)), each);
        }
      }),
    );
  });

  it('are not mistaken for others of the same hash', () => {
    const repeated = new RepeatedTexts();
    assert.equal(hash('Aa'), hash('BB'), 'a known pair of this hash');
    const read = ['Aa', 'Aa', 'BB', 'Aa', 'BB', 'BB'].map((text) => repeated.of(text, 0, 2, hash(text)));
    assert.deepEqual(read, ['Aa', 'Aa', 'BB', 'Aa', 'BB', 'BB']);
  });
});
