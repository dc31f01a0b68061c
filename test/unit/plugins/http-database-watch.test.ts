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

  it('logs once that it is unreachable, and once that it is reachable again', () => {
    watch.note(undefined);
    for (let failures = 0; failures < 5; failures++) watch.note(away);
    nowMs += 90_000;
    watch.note(undefined);
    watch.note(undefined);
    assert.deepEqual(lines, [
      'warn unreachable, requests are answered 503: connect ECONNREFUSED',
      'info reachable again after 90 s',
    ]);
  });

  it('logs an unstable one at most once a minute', () => {
    for (let second = 0; second < 120; second++, nowMs += 1_000) {
      watch.note(away);
      watch.note(undefined);
    }
    assert.deepEqual(
      lines.map((line) => line.split(/[ ,]/, 2).join(' ')),
      ['warn unreachable', 'info reachable', 'warn unreachable', 'info reachable'],
    );
  });

  it('does not consider a database unreachable that is full or refuses a user', () => {
    watch.note(new DatabaseError('sorry, too many clients already', { scope: 'infrastructure', sqlstate: '53300' }));
    watch.note(new DatabaseError('password authentication failed', { scope: 'caller', sqlstate: '28P01' }));
    assert.deepEqual(lines, []);
  });
});
