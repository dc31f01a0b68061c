import assert from 'node:assert/strict';
import { pino } from 'pino';
import type { Page } from '../../../plugins/db-source/feed-reader.ts';
import { SourceLog } from '../../../plugins/db-source/source-log.ts';
import type { TableFeed } from '../../../plugins/db-source/table-feed.ts';

describe('the debug log of a source', () => {
  it('has one entry per refresh, page and commit, with table and offset', () => {
    const entries: Record<string, unknown>[] = [];
    const write = (line: string) => void entries.push(JSON.parse(line) as never);
    const log = new SourceLog(pino({ level: 'debug', base: null, timestamp: false }, { write }));
    const feed = { name: 'meters' } as unknown as TableFeed;
    const page: Page = { rows: [], range: undefined, offsetBefore: {}, offsetAfter: {}, lateRows: 0, isLast: true };
    log.refreshed({ nowMicros: 1_000_000n, changed: false } as never, 2);
    log.found(new Set(), 2);
    log.found(new Set([feed]), 2);
    log.read(feed, page, 3.2);
    log.returned(feed, []);
    log.returned(feed, [
      { sourceOffset: { ts: 1 } } as never,
      { packed: { length: 4 }, offsetAfter: { ts: 5 } } as never,
    ]);
    log.committed();
    const shown = entries.map(({ level, ...fields }) => [level, fields]);
    assert.deepEqual(shown, [
      [
        20,
        {
          tables: 2,
          tablesChanged: false,
          databaseTime: '1970-01-01T00:00:01.000Z',
          msg: 'Refreshed the state of the database',
        },
      ],
      [20, { tables: ['meters'], checked: 2, msg: 'Found tables to read' }],
      [20, { table: 'meters', rows: 0, isLast: true, lateRows: 0, ms: 3, msg: 'Read a page' }],
      [20, { table: 'meters', records: 5, offset: { ts: 5 }, msg: 'Returned records' }],
      [20, { msg: 'The worker stored the offsets of returned records' }],
    ]);
  });
});
