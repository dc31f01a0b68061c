import assert from 'node:assert/strict';
import { LiveView, type LiveViewOptions } from '../../../src/dev/live-view.ts';

const MOVED = {
  sinkRows: 12_345,
  sourceRecords: 678,
  connectors: [
    { name: 'well', state: 'RUNNING', tasks: ['RUNNING'], waitsFor: [] },
    { name: 'broken', state: 'RUNNING', tasks: ['FAILED'], waitsFor: [] },
  ],
  away: [],
};
const COUNTS =
  'Rows into PostgreSQL 12,345; Records into Kafka 678; broken RUNNING tasks: FAILED; well RUNNING tasks: RUNNING\n';
const AWAY = { service: 'Kafka', since: new Date(2026, 0, 2, 3, 4, 5), reason: 'connect ECONNREFUSED' };
const STACK = {
  worker: { url: 'http://127.0.0.1:8083', services: { 'database-http': 'https://127.0.0.1:8080' } },
  bootstrapServers: '127.0.0.1:9092',
  psqlUrl: 'postgresql://127.0.0.1:5432/sluice',
  authorityFile: '/tls/ca.pem',
};

/** The output of a view that shows everything it can show. */
function written(options: Partial<LiveViewOptions> & { readonly isTTY?: boolean }): { out: string; err: string } {
  const { isTTY = false } = options;
  const texts = { out: '', err: '' };
  const view = new LiveView({
    quiet: false,
    environment: {},
    output: { isTTY, columns: 60, rows: 24, write: (text) => (texts.out += text) },
    errors: { isTTY, columns: 60, rows: 24, write: (text) => (texts.err += text) },
    ...options,
  });
  view.note('fetching Kafka');
  for (let step = 0; step < 5; step++) view.note(`fetching Kafka [##---] ${String(step)} of 64 MB`, true);
  view.header(STACK, '/log');
  view.counts(MOVED);
  view.counts(MOVED);
  view.counts({ ...MOVED, away: [AWAY] });
  view.counts({ ...MOVED, away: [AWAY] });
  view.counts(MOVED);
  view.note('Stopped');
  return texts;
}

describe('what sluice dev prints', () => {
  const plain: Readonly<Record<string, Partial<LiveViewOptions> & { readonly isTTY?: boolean }>> = {
    'without a terminal': {},
    'with NO_COLOR': { isTTY: true, environment: { NO_COLOR: '1' } },
    'on a terminal that knows no commands': { isTTY: true, environment: { TERM: 'dumb' } },
  };
  for (const [where, options] of Object.entries(plain)) {
    it(`is plain lines ${where}: nothing is drawn over, and counts come every ten seconds`, () => {
      const { out, err } = written(options);
      assert.equal(err, '');
      assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f]/, 'no escape sequence and no carriage return');
      const [before = '', after = ''] = out.split(/\n {2}Console +http[^]*host_load[^]*limit 5'\n\n/);
      assert.equal(before, 'fetching Kafka\nfetching Kafka [##---] 0 of 64 MB\n');
      assert.equal(
        after,
        `${COUNTS}Kafka is unreachable since 03:04:05: connect ECONNREFUSED\nKafka is reachable again\nStopped\n`,
      );
    });
  }

  it('is drawn in place on a terminal, which an empty NO_COLOR does not change', () => {
    const { out } = written({ isTTY: true, environment: { NO_COLOR: '' } });
    assert.ok(out.includes('\rfetching Kafka [##---] 4 of 64 MB\x1b[K'));
    assert.ok(out.includes('\x1b[4A\r  Kafka is unreachable since 03:04:05: connect ECONNREFUSED\x1b[K\n'));
    assert.ok(!out.includes('Kafka is reachable again'));
  });

  it('leaves the output to the one line of JSON, and has its notes beside it', () => {
    const { out, err } = written({ quiet: true, isTTY: true });
    assert.equal(out, '');
    assert.doesNotMatch(err, /[\x00-\x09\x0b-\x1f]/);
    assert.equal(
      err,
      'fetching Kafka\nfetching Kafka [##---] 0 of 64 MB\nKafka is unreachable since 03:04:05: connect ECONNREFUSED\n' +
        'Kafka is reachable again\nStopped\n',
    );
  });
});
