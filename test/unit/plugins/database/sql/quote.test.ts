import assert from 'node:assert/strict';
import { doubled, undoubled } from '../../../../../plugins/database/sql/doubled.ts';
import { DatabaseError } from '../../../../../src/errors.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from '../../../../../plugins/database/sql/quote.ts';

describe('quotes in texts of any length', () => {
  it('are doubled and undoubled in the same way, short texts and long ones', () => {
    for (const piece of ["a'b", "'''", "''é", "😀'", 'ab']) {
      for (const times of [1, 7, 60_000]) {
        const text = piece.repeat(times);
        assert.equal(doubled(text, "'"), text.split("'").join("''"));
        assert.equal(undoubled(doubled(text, "'"), "'"), text);
      }
    }
    assert.equal(undoubled(`${"'''".repeat(1)}${'x'.repeat(200_000)}`, "'"), `''${'x'.repeat(200_000)}`);
  });
});

describe('quoting', () => {
  it('keeps case, dots and blanks of a name and doubles its quotes', () => {
    assert.equal(quoteIdentifier('Sys.cpu "load"'), '"Sys.cpu ""load"""');
    assert.equal(quoteIdentifier('0;drop table t;--'), '"0;drop table t;--"');
    assert.equal(quoteTable({ name: 't' }), '"t"');
    assert.equal(quoteTable({ schema: 'Plant A', name: 't.1' }), '"Plant A"."t.1"');
  });

  it('accepts a name of 63 bytes in UTF-8 and refuses 64 instead of truncating it', () => {
    assert.equal(quoteIdentifier('é'.repeat(31) + 'x'), `"${'é'.repeat(31)}x"`);
    assert.throws(
      () => quoteIdentifier('é'.repeat(32)),
      (error: unknown) => error instanceof DatabaseError && error.sqlstate === '42622' && error.scope === 'table',
    );
    assert.throws(() => quoteIdentifier('x'.repeat(64)), /has 64 bytes; PostgreSQL allows at most 63/);
  });

  it('refuses names that PostgreSQL cannot store', () => {
    assert.throws(() => quoteIdentifier(''), /must not be empty/);
    assert.throws(() => quoteIdentifier('a\0b'), /contains a NUL character/);
  });

  it('creates literals that do not depend on standard_conforming_strings', () => {
    assert.equal(quoteLiteral("it's"), "'it''s'");
    assert.equal(quoteLiteral("a\\'b"), "E'a\\\\''b'");
    assert.throws(() => quoteLiteral('a\0'), /NUL/);
  });
});
