import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell } from '../../../../../src/data/row-batch.ts';
import type { Decoded, EncodedTable } from '../../../../../plugins/database/formats/format.ts';
import { resolveMetric, retarget } from '../../../../../plugins/database/formats/tsd/metric-target.ts';
import {
  decodedFormats,
  decodedPointFormats,
  encodedFormats,
  type EncodedFormatName,
} from '../../../../../plugins/database/formats/registry.ts';
import { readTimestamp } from '../../../../../plugins/database/formats/timestamp-read.ts';
import { TimestampWriter } from '../../../../../plugins/database/sql/timestamp-text.ts';

type Row = readonly (string | null)[];

const writer = new TimestampWriter('+00');
const grapheme = fc.string({ unit: 'grapheme', maxLength: 12 });
/** Texts that every format can spell as a name or as the value of a tag. */
const word = fc.stringMatching(/^[\p{L}\d_.:/-]{1,12}$/u).filter((text) => text.length > 0);
const millis = fc.integer({ min: -8_000_000_000_000, max: 8_000_000_000_000 });
const twoDigits = (max: number) => fc.nat({ max }).map((value) => String(value).padStart(2, '0'));
const clock = fc.tuple(twoDigits(23), twoDigits(59), twoDigits(59)).map((parts) => parts.join(':'));
const day = fc.tuple(fc.integer({ min: 1000, max: 9999 }), twoDigits(11), twoDigits(27));
const double = fc.double().map((value) => (Object.is(value, -0) ? '-0' : String(value)));

interface Type {
  readonly type: string;
  readonly cells: fc.Arbitrary<string>;
  readonly numeric?: true;
}

/** Every type that the documents name, and some that they do not. */
const TYPES: readonly Type[] = [
  { type: 'smallint', cells: fc.integer({ min: -32_768, max: 32_767 }).map(String), numeric: true },
  { type: 'integer', cells: fc.integer().map(String), numeric: true },
  { type: 'bigint', cells: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), numeric: true },
  { type: 'real', cells: fc.float({ noNaN: true, noDefaultInfinity: true }).map(String), numeric: true },
  { type: 'double precision', cells: double, numeric: true },
  {
    type: 'numeric(60,3)',
    cells: fc.tuple(fc.bigInt(), fc.nat({ max: 998 })).map(([whole, part]) => `${String(whole)}.${String(part)}1`),
    numeric: true,
  },
  { type: 'boolean', cells: fc.constantFrom('t', 'f') },
  { type: 'timestamp(3) with time zone', cells: millis.map((ms) => writer.write(ms * 1000)) },
  { type: 'timestamp without time zone', cells: millis.map((ms) => writer.write(ms * 1000).replace('+00', '')) },
  { type: 'date', cells: day.map(([y, m, d]) => `${String(y)}-${m.replace('00', '12')}-${d.replace('00', '28')}`) },
  { type: 'time without time zone', cells: clock },
  { type: 'time with time zone', cells: clock.map((text) => `${text}+02`) },
  { type: 'interval', cells: clock.map((text) => `3 days ${text}`) },
  { type: 'uuid', cells: fc.uuid() },
  { type: 'character varying(64)', cells: grapheme },
  { type: 'character(4)', cells: fc.stringMatching(/^[a-z]{4}$/) },
  { type: 'text', cells: grapheme },
  { type: 'bytea', cells: fc.uint8Array({ maxLength: 20 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`) },
  { type: 'json', cells: fc.json().filter((text) => text !== 'null' && !/[\n\r]/.test(text)) },
  { type: 'jsonb', cells: fc.json().filter((text) => text !== 'null' && !/[\n\r]/.test(text)) },
  { type: 'integer[]', cells: fc.array(fc.integer()).map((all) => `{${all.join(',')}}`) },
  { type: 'inet', cells: fc.ipV4() },
];

const columns = [
  { name: 'at', type: 'timestamp(3) with time zone', nullable: false, role: 'time' as const },
  ...TYPES.map(({ type }, index) => ({
    name: `c${String(index)}`,
    type,
    nullable: true,
    role: 'data' as const,
  })),
  { name: 'site', type: 'character varying(64)', nullable: false, role: 'primary-tag' as const },
  { name: 'rack', type: 'character varying(64)', nullable: true, role: 'tag' as const },
];
const rowOf = fc
  .tuple(fc.tuple(...TYPES.map(({ cells }) => fc.option(cells))), word, fc.option(word))
  .map(([cells, site, rack]): Row => [...cells, site, rack]);
/** Rows of different times, at least one number in each. */
const rowsOf = fc
  .tuple(millis, fc.array(rowOf, { minLength: 1, maxLength: 4 }))
  .map(([start, rows]) =>
    rows.map((row, index): Row => [writer.write((start + index * 1000) * 1000), '7', ...row.slice(1)]),
  );

/** A decoded cell and the one it was written from are the same value of that type. */
function same(read: Cell | undefined, written: string, type: string): boolean {
  if (read === null || read === undefined) return false;
  if (type.startsWith('timestamp')) {
    const micros = typeof read === 'string' ? readTimestamp(read) : read;
    return String(micros) === String(readTimestamp(written));
  }
  if (type === 'boolean') return read === (written === 't') || read === written;
  if (type === 'bytea' && read instanceof Uint8Array) return `\\x${Buffer.from(read).toString('hex')}` === written;
  if (type === 'real') return Math.fround(Number(read)) === Math.fround(Number(written));
  if (type.startsWith('numeric')) return String(read).replace(/0+$/, '') === written.replace(/0+$/, '');
  if (type === 'double precision') return Object.is(Number(read), Number(written));
  return String(read) === written;
}

/** Whether the format has a spelling for this value. */
function isSpelled(format: EncodedFormatName, type: string, cell: string): boolean {
  if (format === 'json_db' || format === 'json_tsd') return true;
  const isFinite = !/^(NaN|-?Infinity)$/.test(cell);
  if (format === 'line_lp') return (type !== 'double precision' && type !== 'real') || isFinite;
  return TYPES.some((each) => each.type === type && each.numeric === true) && isFinite;
}

/** The decoded rows by time: cells by column. */
async function readBack(format: EncodedFormatName, messages: readonly string[], table: string) {
  const decoder =
    format === 'json_db'
      ? decodedFormats.json_db.create({ precision: 'ms', tagsWhenAbsent: 'none' })
      : format === 'line_lp'
        ? decodedFormats.line_lp.create({ precision: 'ns', now: () => 0, timeColumn: 'at' })
        : decodedPointFormats[format].create({ precision: 'ms' });
  for (const message of messages) decoder.add(message, { kind: 'line', line: 1 });
  const { rows, faults } = decoder.take();
  assert.deepEqual(faults, []);
  const found = new Map<string, Map<string, Cell>>();
  for (const decoded of rows) {
    const { batch } = await targeted(decoded, table);
    assert.equal(batch.table.name, table);
    const times = batch.columns.find(({ role }) => role === 'time')?.cells ?? [];
    for (let row = 0; row < batch.rowCount; row++) {
      const time = String(times[row]);
      const cells = found.get(time) ?? new Map<string, Cell>();
      found.set(time, cells);
      for (const column of batch.columns) {
        const cell = column.cells[row] ?? null;
        if (cell !== null) cells.set(column.name, cell);
      }
    }
  }
  return found;
}

async function targeted(decoded: Decoded['rows'][number], table: string) {
  if (decoded.metric === undefined) return decoded;
  const target = await resolveMetric(decoded.metric, (name) =>
    Promise.resolve(name === table ? { columns } : undefined),
  );
  const { rows, faults } = retarget(decoded, target);
  assert.deepEqual(faults, []);
  return rows;
}

describe('rows of all column types', () => {
  for (const format of ['json_db', 'json_tsd', 'line_tsd', 'line_lp'] as const) {
    for (const inOne of [false, true]) {
      it(`are read back by the sink as they were, ${inOne ? 'several' : 'one'} a message (${format})`, async () => {
        const property = fc.asyncProperty(word, rowsOf, async (name, rows) => {
          const table: EncodedTable = { name: { name }, columns };
          const encoder = encodedFormats[format].create(table);
          const all = rows.map((row) => encoder.rowText(row)).filter((text) => text !== '');
          const messages = inOne
            ? [encoder.message(all.join(encoder.separator))]
            : rows.map((row) => encoder.encode(row));
          const found = await readBack(
            format,
            messages.flatMap((message) => message ?? []),
            name,
          );
          assert.equal(found.size, rows.length);
          for (const row of rows) {
            const read = found.get(String(readTimestamp(row[0] ?? '')));
            for (const [index, { name: column, type }] of columns.entries()) {
              const cell = row[index] ?? null;
              const isThere = cell !== null && (column === 'site' || column === 'rack' || column === 'at');
              if (cell === null || !(isThere || isSpelled(format, type, cell))) {
                assert.equal(read?.get(column), undefined, `${column} ${type}`);
              } else {
                const text = `${column} ${type}: ${cell} became ${String(read?.get(column))}`;
                assert.ok(same(read?.get(column), cell, type), text);
              }
            }
          }
        });
        await fc.assert(property, { numRuns: 150 });
      });
    }
  }

  it('produce no message if there are none', () => {
    for (const format of ['json_db', 'json_tsd', 'line_tsd', 'line_lp'] as const) {
      assert.equal(encodedFormats[format].create({ name: { name: 't' }, columns }).message(''), null);
    }
  });
});
