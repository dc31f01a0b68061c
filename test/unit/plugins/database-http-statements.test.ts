import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { splitStatements } from '../../../src/index.ts';
import { RequestClock } from '../../../plugins/database-http/transport/request-clock.ts';
import { readStatements } from '../../../plugins/database-http/statements/statement-text.ts';

const texts = (sql: string, maxLength: number): string[] => [...readStatements(sql, maxLength)].map(({ text }) => text);

describe('the statements of a request', () => {
  it('are the same however little of the text is looked at at a time', () => {
    const piece = fc.constantFrom(
      'select 1',
      "insert into t values ('a;b')",
      '/* ; */',
      '-- x;\n',
      '$$;$$',
      ' ',
      ';',
      '\n',
      '"a;"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(3), (pieces, more) => {
        const sql = pieces.join('');
        const longest = Math.max(0, ...[...splitStatements(sql)].map(({ text }) => text.length));
        // Blanks, comments and empty statements around one may count.
        const around = pieces.filter((text) => /^(?:[\s;]|\/\*|--)/.test(text)).join('').length;
        assert.deepEqual(texts(sql, longest + around + more), texts(sql, 1_000_000));
      }),
      { numRuns: 3_000 },
    );
  });

  it('are refused when they are too long, and those before them are not', () => {
    const long = `insert into t values ('${'x'.repeat(100)}')`;
    const statements = readStatements(`select 1; select 2; ${long}; select 3`, 50);
    assert.equal(statements.next().value?.text, 'select 1');
    assert.equal(statements.next().value?.text, 'select 2');
    assert.throws(() => statements.next(), { status: 400, message: /at most 50 characters .*max\.statement\.length/ });
    assert.throws(() => texts('x'.repeat(51), 50), { status: 400 });
    assert.deepEqual(texts('x'.repeat(50), 50), ['x'.repeat(50)]);
    assert.deepEqual(texts(`${' ;\n'.repeat(100)}select 1;`, 50), ['select 1']);
  });

  it('that are too long are refused without being read to their end', () => {
    const sql = `insert into t values ${Array.from({ length: 1_000_000 }, () => "(1, 'text')").join()}`;
    const startedAt = performance.now();
    assert.throws(() => texts(sql, 100_000), { status: 400 });
    assert.ok(performance.now() - startedAt < 500);
  });
});

describe('the times of a request', () => {
  const times = (clock: RequestClock): number[] =>
    [...clock.header().matchAll(/(?:parse|db|total);dur=([\d.]+)/g)].map(([, ms]) => Number(ms));

  it('are told apart, those of calls under way and at the same time included', async () => {
    const clock = new RequestClock();
    await clock.parseWith(() => clock.database(() => delay(30)));
    const calls = Promise.all([clock.database(() => delay(60)), clock.database(() => delay(60))]);
    await delay(30);
    const [parse = -1, db = -1, total = -1] = times(clock);
    assert.ok(parse >= 0 && parse < 15, String(parse));
    assert.ok(db >= 55 && db <= total, String(db));
    await calls;
    assert.ok((times(clock)[1] ?? 0) < 130);
  });

  it('do not count what the reader of a stream does as the database’s', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1;
      yield 2;
    }
    const clock = new RequestClock();
    const seen: number[] = [];
    for await (const item of clock.stream(source())) {
      seen.push(item);
      await delay(20);
    }
    const [, db = -1, total = -1] = times(clock);
    assert.deepEqual(seen, [1, 2]);
    assert.ok(db < 15 && total >= 38);
  });
});
