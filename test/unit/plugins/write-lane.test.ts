import assert from 'node:assert/strict';
import { BatchRows } from '../../../plugins/db-sink/batch-rows.ts';
import type { Refuse } from '../../../plugins/db-sink/ordered-writes.ts';
import { MessageDecoder, type RecordDecoder } from '../../../plugins/db-sink/record-decoder.ts';
import { WriteLane, type BatchWrites } from '../../../plugins/db-sink/write-lane.ts';
import type { MessageBlock, SinkRecordBlock } from '../../../src/data/message-block.ts';
import { topicPartitionKey, type SinkRecord } from '../../../src/data/record.ts';
import type { DecodedPart } from '../../../plugins/database/formats/format.ts';
import { CdcDbDecoder } from '../../../plugins/database/formats/json-db/cdc-db.ts';
import { until } from '../../support/until.ts';

function record(offset: number, value: string): SinkRecord {
  const place = { topic: 't', partition: 0, offset };
  const nothing = { keySchema: null, key: null, valueSchema: null, headers: [], timestamp: null } as const;
  return { ...place, ...nothing, value, timestampType: 'NoTimestampType', original: place, consumed: place };
}

const row = (offset: number) =>
  record(
    offset,
    JSON.stringify({
      kind: 'insert',
      database: 'd',
      table: 'x',
      columnnames: ['n'],
      columntypes: ['int8'],
      columnvalues: [[offset]],
    }),
  );
const statement = (offset: number, kind: string) =>
  record(offset, JSON.stringify({ kind, database: 'd', statement: `${kind} …` }));

interface LaneParts {
  readonly createDecoder?: () => RecordDecoder;
  readonly writes?: BatchWrites;
  readonly batchRows?: BatchRows;
}

/** A lane whose writes end on demand. */
class Lane {
  readonly written: string[] = [];
  readonly refused: [number, string][] = [];
  tablesChanged = 0;
  failed = 0;
  readonly lane: WriteLane;
  #release: (() => void)[] = [];
  #held: string | undefined;

  constructor({
    createDecoder = () => new MessageDecoder(() => new CdcDbDecoder()),
    writes = { kind: 'parts', write: (part, signal) => this.#write(part, signal) },
    batchRows = new BatchRows(2, false),
  }: LaneParts = {}) {
    const refuse: Refuse = (refused, error) => {
      this.refused.push([refused.offset, error.message]);
      return Promise.resolve();
    };
    this.lane = new WriteLane(createDecoder, writes, refuse, batchRows, {
      onFailure: () => this.failed++,
      onTablesChanged: () => this.tablesChanged++,
    });
  }

  /** From now on writes of this, by the text that `written` has for it, do not end. */
  hold(what: string): void {
    this.#held = what;
  }

  /** Completes the write in flight and all later ones. */
  release(): void {
    this.#held = undefined;
    for (const resolve of this.#release.splice(0)) resolve();
  }

  async #write(part: DecodedPart, signal: AbortSignal): Promise<[]> {
    const what = part.kind === 'rows' ? `${String(part.rows.batch.rowCount)} rows` : part.statement.kind;
    this.written.push(what);
    if (this.#held === what) {
      await new Promise<void>((resolve, reject) => {
        this.#release.push(resolve);
        signal.addEventListener('abort', () => {
          reject(new Error('given up'));
        });
      });
    }
    return [];
  }
}

const KEY = topicPartitionKey('t', 0);

describe('a lane of a sink', () => {
  it('has no room while a full batch is pending after the one in flight, and writes in order', async () => {
    const held = new Lane();
    held.hold('2 rows');
    for (const offset of [0, 1, 2]) held.lane.add(row(offset));
    assert.ok(await held.lane.hasRoom(0), 'the first batch is on its way, the third row waits');
    for (const offset of [3, 4]) held.lane.add(row(offset));
    assert.ok(!(await held.lane.hasRoom(5)));
    assert.equal(held.lane.firstUnstored(KEY), 0);
    held.release();
    assert.ok(await held.lane.hasRoom(5000));
    await held.lane.flush(5000);
    assert.deepEqual(held.written, ['2 rows', '2 rows', '1 rows']);
    assert.equal(held.lane.firstUnstored(KEY), undefined);
  });

  it('has completed everything before a change of tables as soon as it is done', async () => {
    const held = new Lane({ batchRows: new BatchRows(100, false) });
    held.lane.add(record(0, 'garbage'));
    held.lane.add(row(1));
    held.lane.add(statement(2, 'alter'));
    held.lane.add(statement(3, 'update'));
    held.lane.add(row(4));
    held.lane.add(record(5, 'more garbage'));
    held.hold('update');
    held.lane.start();
    await until(() => held.written.includes('update'), 'the second statement is on its way');
    assert.equal(held.tablesChanged, 1);
    assert.deepEqual(
      held.refused.map(([offset]) => offset),
      [0],
    );
    assert.equal(held.lane.firstUnstored(KEY), 3);
    held.release();
    await held.lane.flush(5000);
    assert.deepEqual(held.written, ['1 rows', 'alter', 'update', '1 rows']);
    assert.deepEqual(
      held.refused.map(([offset]) => offset),
      [0, 5],
    );
  });

  it('writes a single record immediately', () => {
    const held = new Lane({ batchRows: new BatchRows(1000, true) });
    held.lane.add(row(0));
    held.lane.start();
    assert.deepEqual(held.written, ['1 rows']);
  });

  it('holds back records while more are known to follow, until the batch is full or nothing follows', async () => {
    const held = new Lane({ batchRows: new BatchRows(4, false) });
    const add = (offset: number, hasMore: boolean): void => {
      held.lane.add(row(offset));
      held.lane.start(hasMore);
    };
    for (const offset of [0, 1, 2]) add(offset, true);
    assert.deepEqual(held.written, []);
    assert.equal(held.lane.firstUnstored(KEY), 0);
    add(3, true);
    assert.deepEqual(held.written, ['4 rows']);
    await held.lane.flush(5000);
    add(4, true);
    add(5, false);
    assert.deepEqual(held.written, ['4 rows', '2 rows']);
    await held.lane.flush(5000);
  });

  it('holds back records only for a short time, and not during a flush or drop', async () => {
    const held = new Lane({ batchRows: new BatchRows(4, false) });
    held.lane.add(row(0));
    held.lane.start(true);
    await until(() => held.lane.firstUnstored(KEY) === undefined, 'what was held back is stored');
    held.lane.add(row(1));
    held.lane.start(true);
    await held.lane.flush(5000);
    assert.deepEqual(held.written, ['1 rows', '1 rows']);
    held.lane.add(row(2));
    held.lane.start(true);
    await held.lane.drop();
    held.lane.add(row(3));
    held.lane.start(false);
    assert.deepEqual(held.written, ['1 rows', '1 rows', '1 rows']);
    assert.equal(held.lane.firstUnstored(KEY), 3);
    await held.lane.flush(5000);
  });

  it('reports each write, so that batches can grow', async () => {
    const written: number[] = [];
    class Growing extends BatchRows {
      override recordWrite(rows: number, ms: number): void {
        written.push(rows);
        super.recordWrite(rows, Math.min(ms, 1));
      }
    }
    const held = new Lane({ batchRows: new Growing(1000, true) });
    for (let offset = 0; offset < 3000; offset++) {
      held.lane.add(row(offset));
      if (offset === 999) await until(() => written.length === 1, 'the first batch is written');
    }
    await held.lane.flush(5000);
    assert.deepEqual(held.written, ['1000 rows', '2000 rows']);
    assert.deepEqual(written, [1000, 2000]);
  });

  it('aborts the write in flight and drops pending records when its partitions are revoked', async () => {
    const held = new Lane();
    held.hold('2 rows');
    for (const offset of [0, 1, 2, 3, 4]) held.lane.add(row(offset));
    await held.lane.drop();
    assert.deepEqual([held.written, held.failed, held.lane.firstUnstored(KEY)], [['2 rows'], 0, undefined]);
    held.release();
    held.lane.add(row(9));
    await held.lane.flush(5000);
    assert.deepEqual(held.written, ['2 rows', '1 rows']);
  });

  it('reports a failure at every later call', async () => {
    const lane = new Lane({ writes: { kind: 'parts', write: () => Promise.reject(new Error('no more')) } });
    lane.lane.add(row(0));
    lane.lane.start();
    await until(() => lane.failed === 1, 'the failure is reported');
    assert.throws(() => {
      lane.lane.check();
    }, /no more/);
    await assert.rejects(lane.lane.hasRoom(5000), /no more/);
    await lane.lane.flush(5000);
    assert.equal(lane.lane.firstUnstored(KEY), 0);
  });

  describe('with a block of messages', () => {
    class Block {
      readonly passesMessages = true;
      readonly messages: MessageBlock;

      constructor(first: number, count: number) {
        const texts = Array.from({ length: count }, (_, index) => Buffer.from(row(first + index).value as string));
        const starts = texts.map((_, index) => texts.slice(0, index).reduce((sum, { length }) => sum + length, 0));
        this.messages = {
          ...{ topic: 't', partition: 0, count, bytes: Buffer.concat(texts) },
          offsets: texts.map((_, index) => first + index),
          timestamps: texts.map(() => 0),
          valueStarts: starts,
          valueEnds: texts.map(({ length }, index) => (starts[index] ?? 0) + length),
        };
      }
    }

    const byBlocks: LaneParts = {
      createDecoder: () => {
        const decoder = new MessageDecoder(() => new CdcDbDecoder());
        return {
          get rowCount() {
            return decoder.rowCount;
          },
          add: (each, origin) => {
            decoder.add(each, origin);
          },
          addBlock: ({ messages }, from, to) => {
            const { bytes, offsets, valueStarts, valueEnds } = messages;
            for (let index = from; index < to; index++) {
              const value = bytes.toString('utf8', valueStarts[index], valueEnds[index]);
              const { consumed } = record(offsets[index] ?? -1, value);
              decoder.add(record(consumed.offset, value), { kind: 'record', ...consumed });
            }
            return to;
          },
          take: () => decoder.take(),
        };
      },
    };

    it('writes its rows in full batches, and the rest after all are added', async () => {
      const held = new Lane(byBlocks);
      await held.lane.addBlock(new Block(0, 5) as unknown as SinkRecordBlock);
      held.lane.start();
      await held.lane.flush(5000);
      assert.deepEqual(held.written, ['2 rows', '2 rows', '1 rows']);
    });
  });
});
