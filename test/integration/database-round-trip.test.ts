import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell, CellKind, ColumnCells, ColumnRole } from '../../src/data/row-batch.ts';
import { quoteIdentifier, quoteLiteral } from '../../plugins/database/sql/quote.ts';
import { batch, DatabaseFixture, OVERRIDE, upTo } from './database-fixture.ts';

/** Any text that PostgreSQL can hold, hostile characters more often than others. */
const hostile = fc.constantFrom(
  '"',
  "'",
  '\\',
  '{',
  '}',
  ',',
  ';',
  '--',
  '$1',
  '\n',
  '\t',
  ' ',
  'NULL',
  'null',
  '(',
  '%',
  'é',
  '😀',
);
const storable = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(hostile, { maxLength: 8 }).map((parts) => parts.join('')),
  )
  .filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text));
/** Not the epoch as a whole, which the server computes in floating point where it is large. */
const MICROS =
  "((v::date - date 'epoch')::numeric * 86400000000 + extract(epoch FROM v::time) * 1000000)::numeric(40, 0)";

const name = storable.filter((text) => text.length > 0 && Buffer.byteLength(text) <= 63);

describe('data that is written to the database and read back', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  it('is the same for names of tables and columns, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(name, fc.uniqueArray(name, { minLength: 2, maxLength: 4 }), async (table, columns) => {
        const shape = {
          exact: true,
          columns: columns.map((column, index) => {
            const role: ColumnRole = index === 0 ? 'time' : 'primary-tag';
            return {
              name: column,
              role,
              type: index === 0 ? 'TIMESTAMPTZ' : 'VARCHAR',
              length: undefined,
              nullable: false,
            };
          }),
        };
        const made = await db.executor.catalogue.ensure({ name: table }, shape, { create: true });
        assert.deepEqual(
          made.columns.map((column) => [column.name, column.role]),
          shape.columns.map((column) => [column.name, column.role]),
        );
        const cells = columns.map((column, index): ColumnCells => {
          const isTime = index === 0;
          return {
            name: column,
            role: isTime ? 'time' : 'primary-tag',
            kind: isTime ? 'time' : 'text',
            cells: [isTime ? 0 : column],
          };
        });
        const rows = { ...batch('x', { 'x:int': [1] }), table: { name: table }, columns: cells };
        assert.equal((await db.executor.write(rows, OVERRIDE)).stored, 1);
        const stored = await db.rows(`SELECT * FROM ${quoteIdentifier(table)}`);
        assert.deepEqual(stored[0]?.slice(1), columns.slice(1));
        await db.run(`DROP TABLE ${quoteIdentifier(table)}`);
        await db.executor.catalogue.refresh({ name: table });
      }),
      { numRuns: 60 },
    );
  });

  it('is the same for text in literals', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(storable, { minLength: 1, maxLength: 20 }), async (texts) => {
        for (const setting of ['on', 'off']) {
          await db.executor.session(async (session) => {
            await session.query(`SELECT set_config('standard_conforming_strings', '${setting}', false)`);
            const { rows } = await session.query(`SELECT ${texts.map(quoteLiteral).join(', ')}`);
            assert.deepEqual(rows, [texts]);
          });
        }
      }),
      { numRuns: 30 },
    );
  });

  const numbers = fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN, Infinity, -Infinity, 5e-324, Number.MAX_VALUE));
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const micros = fc.bigInt({ min: -210866803200000000n, max: 9224318015999999999n });
  const cases: { type: string; kind: CellKind; cell: fc.Arbitrary<NonNullable<Cell>>; compared: string }[] = [
    { type: 'text', kind: 'text', cell: storable, compared: 'encode(convert_to(v, $$UTF8$$), $$hex$$)' },
    { type: 'bytea', kind: 'bytes', cell: fc.uint8Array(), compared: 'encode(v, $$hex$$)' },
    { type: 'int8', kind: 'int', cell: fc.oneof(int64, fc.maxSafeInteger()), compared: 'v' },
    { type: 'float8', kind: 'float', cell: numbers, compared: 'v' },
    {
      type: 'timestamptz',
      kind: 'time',
      cell: micros,
      compared: MICROS,
    },
    { type: 'bool', kind: 'bool', cell: fc.boolean(), compared: 'v' },
  ];

  /** The text that the comparison gives for a cell. */
  function expected(kind: CellKind, cell: Cell): string | null {
    if (cell === null) return null;
    if (cell instanceof Uint8Array) return Buffer.from(cell).toString('hex');
    if (kind === 'text') return Buffer.from(String(cell)).toString('hex');
    return String(cell);
  }

  for (const { type, kind, cell, compared } of cases) {
    it(`is the same for ${kind} cells in ${type} columns, in binary, as literals and by COPY`, async () => {
      await db.run(`CREATE TABLE ${kind}_copied (id int4, v ${type})`);
      await db.run(`CREATE TABLE ${kind}_values (id int4, v ${type})`, `CREATE DOMAIN ${kind}_domain AS ${type}`);
      // Columns of a domain never go in binary.
      await db.run(`CREATE TABLE ${kind}_literals (id int4, v ${kind}_domain)`);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(cell), { minLength: 1, maxLength: 50 }), async (few) => {
          for (const table of [`${kind}_values`, `${kind}_literals`, `${kind}_copied`]) {
            await db.run(`TRUNCATE ${table}`);
            // Many rows are copied, few are inserted.
            const cells = table.endsWith('copied') ? upTo(80).map((row) => few[row % few.length] ?? null) : few;
            const rows = batch(table, { 'id:int': upTo(cells.length), [`v:${kind}`]: cells });
            const report = await db.executor.write(rows, OVERRIDE);
            assert.deepEqual(report.faults, []);
            const stored = await db.rows(`SELECT ${compared} FROM ${table} ORDER BY id`);
            if (kind === 'float' || kind === 'bool') {
              const parse = (value: string | null | undefined): unknown =>
                kind === 'bool' ? value === 't' : Number(value);
              for (const [index, given] of cells.entries()) {
                const [value] = stored[index] ?? [];
                if (given === null) assert.equal(value, null);
                else assert.ok(Object.is(parse(value), given), `${String(given)} became ${String(value)}`);
              }
            } else {
              assert.deepEqual(
                stored.map(([value]) => value),
                cells.map((given) => expected(kind, given)),
              );
            }
          }
        }),
        { numRuns: 25 },
      );
    });
  }
});
