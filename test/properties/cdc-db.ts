import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CdcDbDecoder } from '../../plugins/database/formats/json-db/cdc-db.ts';
import { partsOf, type Decoded } from '../../plugins/database/formats/format.ts';
import { rowsOf } from '../unit/plugins/database/formats/rows-of.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const RECORD = { kind: 'record', topic: 'changes', partition: 0, offset: 4 } as const;
const COLUMNS = '"columnnames":["ts","n","name"],"columntypes":["TIMESTAMPTZ(3)","INT8","VARCHAR(64)"]';

function insert(rows: string, place = '"schema":"public","table":"meters"'): string {
  return `{"kind":"insert","database":"plant",${place},${COLUMNS},"columnvalues":[${rows}]}`;
}

function statement(sql: string): string {
  return `{"kind":"drop","database":"plant","schema":"public","table":"meters","statement":${JSON.stringify(sql)}}`;
}

const value = fc.constantFrom('1', '-7', '"x"', 'null', '1.5', '[1]', '{}', '', '"', '01');
const odd = fc.array(value, { maxLength: 5 }).map((cells) => `[${cells.join(', ')}]`);
const usual = fc.nat({ max: 99 }).map((n) => `[${String(n)},${String(n)},"a"]`);
const rows = fc.array(fc.oneof(usual, usual, odd, fc.constantFrom('5', '', '[')), { maxLength: 4 });
const message = fc.oneof(
  { weight: 5, arbitrary: rows.map((all) => insert(all.join(','))) },
  { weight: 2, arbitrary: rows.map((all) => insert(all.join(' , '), '"schema":null,"table":"other"')) },
  { weight: 1, arbitrary: fc.constantFrom(statement('X'), statement(''), '{}', '') },
  { weight: 1, arbitrary: rows.map((all) => insert(all.join(',')).slice(0, -1)) },
  { weight: 1, arbitrary: fc.json() },
);
const anyText = withLongOnes(
  fc.oneof(nearly(message, ['', '"', '{', '}', ']', ',', '\\', '\0', 'e']), fc.string({ unit: 'binary' })),
  fc.constantFrom('[', '{"kind":', '"', '\\', ' ', '1', '[1,1,"a"],', ','),
);

function decode(messages: readonly (string | Uint8Array)[]): Decoded {
  const decoder = new CdcDbDecoder();
  for (const text of messages) decoder.add(text, RECORD);
  return decoder.take();
}

function contents(decoded: Decoded): unknown {
  const parts = partsOf(decoded).map((part) => (part.kind === 'rows' ? rowsOf(part.rows.batch) : part.statement));
  return [parts, decoded.faults];
}

/** Rows and statements. */
function changesOf(decoded: Decoded): number {
  return partsOf(decoded).reduce((sum, part) => sum + (part.kind === 'rows' ? part.rows.batch.rowCount : 1), 0);
}

function valuesOf(text: string): unknown[] | undefined {
  try {
    const { columnvalues: values } = JSON.parse(text) as { columnvalues?: unknown };
    return Array.isArray(values) ? (values as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

export const CDC_DB: readonly ParserProperty[] = [
  parserProperty(
    'cdc_db reads messages of known tables as it reads each of them alone, whatever is in them',
    fc.array(message, { minLength: 1, maxLength: 6 }),
    () => {
      const warm = new CdcDbDecoder();
      return (messages) => {
        for (const text of [...messages, ...messages]) {
          warm.add(Buffer.from(text), RECORD);
          assert.deepEqual(contents(warm.take()), contents(decode([text])), text);
        }
        const all = decode(messages);
        const each = messages.map((text) => decode([text]));
        assert.deepEqual(
          all.faults,
          each.flatMap(({ faults }) => faults),
        );
        assert.equal(
          changesOf(all),
          each.reduce((sum, decoded) => sum + changesOf(decoded), 0),
        );
      };
    },
  ),
  parserProperty(
    'cdc_db gives a row or a fault for every row that JSON.parse reads',
    rows.map((all) => insert(all.join(','))),
    () => (text) => {
      const decoded = decode([text]);
      const values = valuesOf(text);
      const counts = [changesOf(decoded), decoded.faults.length] as const;
      if (values === undefined) assert.deepEqual(counts, [0, 1], text);
      else assert.equal(counts[0] + counts[1], values.length, text);
    },
  ),
  parserProperty('cdc_db is whole again after any text', fc.oneof(anyText, fc.uint8Array({ maxLength: 60 })), () => {
    const warm = new CdcDbDecoder();
    return (text) => {
      warm.add(text, RECORD);
      warm.take();
      warm.add(insert('[1,2,"a"]'), RECORD);
      const again = warm.take();
      assert.deepEqual([changesOf(again), again.faults], [1, []]);
    };
  }),
];
