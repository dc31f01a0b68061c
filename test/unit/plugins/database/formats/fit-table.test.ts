import assert from 'node:assert/strict';
import type { RowBatch } from '../../../../../src/data/row-batch.ts';
import { fitNameTag, fitToTable, type FittedTable } from '../../../../../plugins/database/formats/fit-table.ts';
import { LineLpDecoder } from '../../../../../plugins/database/formats/line-lp/line-lp.ts';
import { LineTsdDecoder } from '../../../../../plugins/database/formats/tsd/line-tsd.ts';
import { rowsOf } from './rows-of.ts';

const HASH = 'a'.repeat(64);

function lines(text: string, derives = true): RowBatch {
  const decoder = new LineLpDecoder({ precision: 'us', now: () => 0, derivesPrimaryTag: () => derives });
  decoder.add(text, { kind: 'line', line: 1 });
  return only(decoder.take().rows.map(({ batch }) => batch));
}

function points(text: string): RowBatch {
  const decoder = new LineTsdDecoder({ precision: 's', derivesPrimaryTag: true });
  decoder.add(text, { kind: 'line', line: 1 });
  return only(decoder.take().rows.map(({ batch }) => batch));
}

function only(batches: readonly RowBatch[]): RowBatch {
  const [batch, ...others] = batches;
  assert.ok(batch !== undefined && others.length === 0);
  return batch;
}

function table(columns: string, key: readonly string[] = []): FittedTable {
  const named = columns.split(', ').map((column) => {
    const [name = '', ...type] = column.split(' ');
    return { name, type: type.join(' ') };
  });
  return { columns: named, key };
}

const namesOf = ({ columns }: RowBatch): string[] => columns.map(({ name }) => name);
const tagsOf = (batch: RowBatch): unknown[] => rowsOf(batch).map((row) => row['primary_tag']);

describe('rows fitted to a table', () => {
  const bare = table('k_timestamp timestamp with time zone, v double precision, host text');
  const tagged = table('k_timestamp timestamp with time zone, v double precision, host text, primary_tag text');

  describe('lose a derived primary tag', () => {
    for (const [format, batch] of [
      ['line_lp', lines('t,host=a v=1 1\nt,host=b v=2 2\nt,host=a v=3 3')],
      ['line_tsd', points('t.v 1 1 host=a\nt.v 2 2 host=b')],
    ] as const) {
      it(`of ${format} where the table has none`, () => {
        assert.ok(namesOf(batch).includes('primary_tag'));
        assert.ok(!namesOf(fitToTable(batch, bare)).includes('primary_tag'));
        assert.equal(fitToTable(batch, tagged), batch);
      });
    }
  });

  describe('keep an explicit primary tag, whatever its value', () => {
    it('of line_lp, also where the table has none', () => {
      for (const derives of [true, false]) {
        const batch = lines(`t,primary_tag=${HASH} v=1 1\nt,primary_tag=${HASH} v=2 2`, derives);
        assert.deepEqual(tagsOf(fitToTable(batch, bare)), [HASH, HASH]);
      }
    });

    it('of line_tsd, also where the table has none', () => {
      assert.deepEqual(tagsOf(fitToTable(points(`t.v 1 1 primary_tag=${HASH}`), bare)), [HASH]);
    });

    it('beside rows whose tag is derived, which lose theirs', () => {
      const batch = lines(`t,host=a v=1 1\nt,primary_tag=x v=2 2\nt,host=a v=3 3\nt,primary_tag=x v=4 4`);
      assert.deepEqual(tagsOf(fitToTable(batch, bare)), [null, 'x', null, 'x']);
      assert.equal(fitToTable(batch, tagged), batch);
      const mixed = points(`t.v 1 1 host=a\nt.v 2 2 primary_tag=x\nt.v 3 3 host=a`);
      assert.deepEqual(tagsOf(fitToTable(mixed, bare)), [null, 'x', null]);
    });
  });

  it('have integers in timestamp columns converted in the unit of their precision, and others unchanged', () => {
    const batch = lines('t,host=a at=1700000000i,n=5i 1');
    const read = (type: string): unknown =>
      rowsOf(fitToTable(batch, table(`k_timestamp timestamp with time zone, at ${type}, n bigint`)))[0]?.['at'];
    assert.equal(read('timestamp(0) without time zone'), 1_700_000_000_000_000);
    assert.equal(read('timestamp(3) with time zone'), 1_700_000_000_000);
    assert.equal(read('timestamp without time zone'), 1_700_000_000);
    assert.equal(read('bigint'), 1_700_000_000);
  });

  it('have no nanoseconds in their time if the key has a column for them', () => {
    const batch = lines('t,host=a v=1 1');
    const keyed = table('k_timestamp timestamp with time zone, v double precision, k_nanos smallint', ['k_nanos']);
    assert.deepEqual(
      rowsOf(fitToTable(batch, keyed)).map((row) => row['k_nanos']),
      [0],
    );
  });

  it('lose the tag with the table name if the table has none, or would not be a time-series table', () => {
    const tag = { name: 'tag', role: 'tag', kind: 'text', cells: ['t', 't'] } as const;
    const batch: RowBatch = {
      table: { name: 't' },
      columns: [{ ...tag, cells: [...tag.cells] }],
      rowCount: 2,
      origins: { at: () => ({ kind: 'line', line: 1 }) },
    };
    const shape = {
      exact: true,
      columns: [{ name: 'tag', role: 'tag' as const, type: 'VARCHAR', length: 8, nullable: true }],
    };
    const rows = { batch, shape, nameTag: 'tag' };
    assert.equal(fitNameTag(rows, table('tag text'), false), rows);
    assert.equal(fitNameTag(rows, undefined, true), rows);
    const without = fitNameTag(rows, undefined, false);
    assert.deepEqual([without.batch.columns, without.shape?.columns], [[], []]);
    assert.equal(fitNameTag(rows, bare, true).shape, without.shape);
    const other = { ...rows, batch: { ...batch, columns: [{ ...tag, cells: ['t', 'mine'] }] } };
    assert.equal(fitNameTag(other, bare, true), other);
  });
});
