import assert from 'node:assert/strict';
import type { Catalogue } from '../../../../../plugins/database/executor/catalogue.ts';
import type { CatalogueColumn, CatalogueTable } from '../../../../../plugins/database/executor/catalogue-query.ts';
import type { SchemaGrowth } from '../../../../../plugins/database/executor/schema-growth.ts';
import { TablePreparation } from '../../../../../plugins/database/executor/table-preparation.ts';
import type { Cell, ColumnCells, ColumnRole, RowBatch } from '../../../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../../../src/errors.ts';

const VARCHAR_OID = 1043;

/** A catalogue column of type varchar(5). */
function column(name: string, role: ColumnRole = 'data'): CatalogueColumn {
  return {
    name,
    role,
    type: 'character varying(5)',
    typeOid: VARCHAR_OID,
    baseType: 'pg_catalog.varchar',
    operatorSchema: 'pg_catalog',
    family: 'text',
    precision: 6,
    maxLength: 5,
    nullable: true,
    hasDefault: true,
    defaultExpression: "'x'::character varying",
    defaultOf: undefined,
    generated: false,
    isDomain: false,
    isArray: false,
  };
}

const TABLE: CatalogueTable = {
  name: { schema: 'public', name: 't' },
  columns: [column('id'), column('text'), column('tag', 'tag')],
  key: ['id'],
};

/** The batch that is left after the table could not be changed. */
async function prepared(columns: Readonly<Record<string, Cell[]>>): Promise<RowBatch> {
  const cells: ColumnCells[] = Object.entries(columns).map(([name, values]) => ({
    name,
    role: 'data',
    kind: 'text',
    cells: values,
  }));
  const batch: RowBatch = {
    table: TABLE.name,
    columns: cells,
    rowCount: cells[0]?.cells.length ?? 0,
    origins: { at: (line) => ({ kind: 'line', line }) },
  };
  const shape = {
    columns: cells.map(({ name, role }) => ({ name, role, type: 'VARCHAR', length: 100, nullable: true })),
    exact: false,
  };
  const denied = new DatabaseError('must be owner of table t', { scope: 'caller', sqlstate: '42501' });
  const growth = { grow: () => Promise.reject(denied) } as unknown as SchemaGrowth;
  const preparation = new TablePreparation({} as unknown as Catalogue, growth);
  return (await preparation.prepare(batch, shape, { dedupRule: 'override', unknownColumns: 'fault' }, TABLE)).batch;
}

const cellsOf = ({ columns }: RowBatch) => Object.fromEntries(columns.map(({ name, cells }) => [name, cells]));

describe('the rows that can be stored without a change of the table', () => {
  it('keep NULL in a column that could not be widened for another row', async () => {
    const batch = await prepared({ id: ['1', '2'], text: ['too long', null] });
    assert.deepEqual(cellsOf(batch), { id: ['2'], text: [null] });
  });

  it('keep NULL in a column that is a tag of the table', async () => {
    const batch = await prepared({ id: ['1', '2'], tag: ['a', null] });
    assert.deepEqual(cellsOf(batch), { id: ['2'], tag: [null] });
  });

  it('have no column that the table lacks if none of them has a value for it', async () => {
    const batch = await prepared({ id: ['1', '2'], more: ['a', null] });
    assert.deepEqual(cellsOf(batch), { id: ['2'] });
  });
});
