import assert from 'node:assert/strict';
import fc from 'fast-check';
import { splitStatements } from '../../../plugins/database/index.ts';
import { translateInSteps, translateRefusedInSteps } from '../../../plugins/database/sql/translate/translate.ts';
import { RequestClock } from '../../../plugins/database-http/transport/request-clock.ts';
import {
  MAX_STATEMENTS,
  readStatements,
  requireFewStatements,
  Turns,
} from '../../../plugins/database-http/statements/statement-text.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { CONTEXT } from './database/sql/translate/translation-context.ts';

const texts = (sql: string, maxLength: number): string[] =>
  [...readStatements(sql, maxLength)].flatMap((statement) => statement?.text ?? []);

describe('the statements of a request', () => {
  it('are the same, however small the steps of the reader are', () => {
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
      { numRuns: 200 },
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

  it('are at most 10,000, however small their body is packed (S10)', async () => {
    const check = (sql: string): Promise<void> => requireFewStatements(sql, MAX_STATEMENTS, 100_000, new Turns());
    await assert.rejects(check('x;'.repeat(1_000_000)), { status: 400, message: /at most 10000 statements/ });
    await assert.rejects(check(`${'x;'.repeat(MAX_STATEMENTS)}x`), { status: 400 });
    await check('x;'.repeat(MAX_STATEMENTS));
    await check(`select '${';'.repeat(20_000)}'`);
    await check(';'.repeat(1_000_000));
  });

  it('are read and translated in small steps, long ones and empty ones too (S10, S12)', () => {
    const rows = `insert into keyless values ${'(1,2),'.repeat(100_000)}(1,2)`;
    for (const sql of [rows, '/**/;'.repeat(100_000), ';'.repeat(1_000_000), `select ${'1,'.repeat(200_000)}1`]) {
      const steps = [...readStatements(sql, 4_000_000)].length;
      assert.ok(steps >= sql.length / 50_000 || /^;+$/.test(sql), `${String(steps)} steps for ${sql.slice(0, 40)}`);
    }
    const translation = translateInSteps(rows, CONTEXT);
    let steps = 0;
    while (translation.next().done !== true) steps++;
    assert.ok(steps > 50, `${String(steps)} steps`);
  });

  it('are examined in small steps after a refusal, few tokens that are long and cells of long rows too (S12)', () => {
    const insert = 'insert into meters (ts, location) values (';
    const count = (sql: string, sqlstate: string): number => {
      const translation = translateRefusedInSteps(sql, sqlstate, CONTEXT);
      let steps = 0;
      while (translation.next().done !== true) steps++;
      return steps;
    };
    assert.ok(count(`${insert}${'@+'.repeat(1_000_000)}`, '23505') > 15);
    assert.ok(count(`insert into meters select ${'@+'.repeat(1_000_000)}`, '23505') > 15);
    const cells = `${insert}(${'1 '.repeat(500_000)}), 2)`;
    const conflict = 'ON CONFLICT ("ts", "location") DO UPDATE SET "power" = EXCLUDED."power"';
    assert.ok(count(`${cells} ${conflict}`, '21000') > 1.9 * count(cells, '23505'), 'a row is read twice');
  });

  it('that are too long are refused without being read to their end', () => {
    const sql = `insert into t values ${Array.from({ length: 1_000_000 }, () => "(1, 'text')").join()}`;
    // The whole text takes 2 s.
    assert.ok(cpuMsOf(() => assert.throws(() => texts(sql, 100_000), { status: 400 })) < 500);
  });
});

describe('the times of a request', () => {
  let nowMs = 0;
  const pass = async (ms: number): Promise<void> => void (nowMs += ms);
  const header = (clock: RequestClock): string => clock.header().replaceAll(/\.00\b/g, '');

  it('are distinguished, those of calls under way and at the same time included', async () => {
    const clock = new RequestClock(() => nowMs);
    await clock.parseWith(async () => {
      await pass(7);
      await clock.database(() => pass(30));
    });
    clock.parse(() => void (nowMs += 2));
    const ends: (() => void)[] = [];
    const call = () => new Promise<void>((resolve) => ends.push(resolve));
    const calls = Promise.all([clock.database(call), clock.database(call)]);
    await pass(60);
    assert.equal(header(clock), 'parse;dur=9, db;dur=90, total;dur=99');
    for (const end of ends) end();
    await calls;
    await pass(5);
    assert.equal(header(clock), 'parse;dur=9, db;dur=90, total;dur=104');
  });

  it('do not count work of the reader of a stream as time of the database', async () => {
    async function* source(): AsyncGenerator<number> {
      await pass(3);
      yield 1;
      await pass(3);
      yield 2;
    }
    const clock = new RequestClock(() => nowMs);
    const seen: number[] = [];
    for await (const item of clock.stream(source())) {
      seen.push(item);
      await pass(20);
    }
    assert.deepEqual(seen, [1, 2]);
    assert.equal(header(clock), 'parse;dur=0, db;dur=6, total;dur=46');
  });
});
