import assert from 'node:assert/strict';
import { pino } from 'pino';
import { DatabaseWatch } from '../../../plugins/database-http/access/database-watch.ts';
import { DatabaseError } from '../../../plugins/database/index.ts';

describe('the watch over the database of the HTTP API', () => {
  let nowMs: number;
  let lines: string[];
  let watch: DatabaseWatch;
  beforeEach(() => {
    nowMs = 1_000_000;
    lines = [];
    const logger = pino(
      { level: 'info', formatters: { level: (label) => ({ level: label }) } },
      {
        write: (line: string) => {
          const { level, msg } = JSON.parse(line) as { level: string; msg: string };
          lines.push(`${level} ${msg.replace('database HTTP API: the database is ', '')}`);
        },
      },
    );
    watch = new DatabaseWatch(logger, () => nowMs);
  });

  const away = new DatabaseError('connect ECONNREFUSED', { scope: 'infrastructure' });

  it('tells once that it is away, and once that it is back', () => {
    watch.note(undefined);
    for (let failures = 0; failures < 5; failures++) watch.note(away);
    nowMs += 90_000;
    watch.note(undefined);
    watch.note(undefined);
    assert.deepEqual(lines, ['warn away, requests are answered 503: connect ECONNREFUSED', 'info back after 90 s']);
  });

  it('tells of one that comes and goes at most once a minute', () => {
    for (let second = 0; second < 120; second++, nowMs += 1_000) {
      watch.note(away);
      watch.note(undefined);
    }
    assert.deepEqual(
      lines.map((line) => line.slice(0, 9)),
      ['warn away', 'info back', 'warn away', 'info back'],
    );
  });

  it('does not call a database away that is full or refuses a user', () => {
    watch.note(new DatabaseError('sorry, too many clients already', { scope: 'infrastructure', sqlstate: '53300' }));
    watch.note(new DatabaseError('password authentication failed', { scope: 'caller', sqlstate: '28P01' }));
    assert.deepEqual(lines, []);
  });
});
