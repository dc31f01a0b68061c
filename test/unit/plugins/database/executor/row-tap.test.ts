import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Pipeline } from '../../../../../plugins/database/executor/pipeline.ts';
import { RowCollector } from '../../../../../plugins/database/executor/row-collector.ts';
import { RowTap } from '../../../../../plugins/database/executor/row-tap.ts';

function message(code: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(code), length, body]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function dataRow(...cells: (string | null)[]): Buffer {
  const parts = cells.map((cell) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(cell === null ? -1 : Buffer.byteLength(cell));
    return Buffer.concat([length, Buffer.from(cell ?? '')]);
  });
  return message('D', Buffer.concat([int16(cells.length), ...parts]));
}

/** A RowDescription message of columns of type text. */
function description(...names: string[]): Buffer {
  const fields = names.map((name) => {
    const rest = Buffer.alloc(18);
    rest.writeInt32BE(25, 6);
    return Buffer.concat([Buffer.from(`${name}\0`), rest]);
  });
  return message('T', Buffer.concat([int16(names.length), ...fields]));
}

const ready = message('Z', Buffer.from('T'));
const FIELDS = ['a', 'b'].map((name) => ({ name, typeOid: 25, typeModifier: -1 }));
const ROWS = [
  ['1', 'long '.repeat(30)],
  [null, ''],
  ['ü', null],
];
/** A row before the description is another statement's. */
const ANSWER = Buffer.concat([
  dataRow('preamble'),
  description('a', 'b'),
  ...ROWS.slice(0, 2).map((row) => dataRow(...row)),
  message('N', Buffer.from('SNOTICE\0Mhello\0\0')),
  ...ROWS.slice(2).map((row) => dataRow(...row)),
  message('s', Buffer.alloc(0)),
  ready,
  dataRow('next'),
]);

/** The messages that reach the driver, and the rows that are collected from the description on. */
function read(chunks: readonly Buffer[]): { told: string[]; rows: readonly (readonly (string | null)[])[] } {
  const tap = new RowTap({});
  const stream = new EventEmitter();
  tap.attachListeners(stream);
  const collector = new RowCollector(1, 8);
  const told: string[] = [];
  tap.on('dataRow', ({ fields }: { fields: (string | null)[] }) => told.push(`row ${String(fields)}`));
  tap.on('rowDescription', () => {
    told.push('description');
    tap.collect(collector);
  });
  tap.on('notice', () => told.push('notice'));
  tap.on('portalSuspended', () => told.push('suspended'));
  tap.on('readyForQuery', () => {
    told.push('ready');
    tap.collect(undefined);
  });
  // The driver writes into what it was given.
  for (const chunk of chunks) stream.emit('data', Buffer.from(chunk));
  const block = collector.block(FIELDS);
  return { told, rows: Array.from({ length: block.count }, (_, index) => block.row(index)) };
}

describe('Rows are collected without the driver', () => {
  const told = ['row preamble', 'description', 'notice', 'suspended', 'ready', 'row next'];

  it('regardless of how the network splits the response, and no other messages are', () => {
    assert.deepEqual(read([ANSWER]), { told, rows: ROWS });
    for (let size = 1; size < 40; size++) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < ANSWER.length; at += size) chunks.push(ANSWER.subarray(at, at + size));
      assert.deepEqual(read(chunks), { told, rows: ROWS }, `pieces of ${String(size)}`);
    }
    for (let at = 1; at < ANSWER.length; at++) {
      assert.deepEqual(
        read([ANSWER.subarray(0, at), ANSWER.subarray(at)]),
        { told, rows: ROWS },
        `cut at ${String(at)}`,
      );
    }
  });

  it('until the statement fails: rows of the next one are the driver’s', async () => {
    const collectors: (RowCollector | undefined)[] = [];
    const connection = {
      stream: {},
      sync: () => undefined,
      collect: (collector: RowCollector | undefined) => void collectors.push(collector),
    };
    const pipeline = new Pipeline({ send: () => undefined });
    pipeline.collector = new RowCollector(1);
    pipeline.submit(connection as never);
    pipeline.handleRowDescription({ fields: [] });
    pipeline.handleError(new Error('cancelled'));
    await assert.rejects(pipeline.done, /cancelled/);
    assert.deepEqual(collectors, [pipeline.collector, undefined]);
  });

  it('and a row with invalid lengths is an error', () => {
    for (const at of [0, 1, 2, 3, 4, 5, 6, 8]) {
      const row = dataRow('1', '2').subarray(5);
      row[at] = at === 8 ? 0x7f : (row[at] ?? 0) ^ 0x80;
      const collector = new RowCollector(1);
      collector.begin(0);
      collector.append(row, 0, row.length);
      const block = collector.block(FIELDS);
      if (at === 6) assert.deepEqual(block.cell(0, 1), '2');
      else assert.throws(() => block.row(0), /an invalid row/, String(at));
    }
  });
});
