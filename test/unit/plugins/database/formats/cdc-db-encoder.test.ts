import assert from 'node:assert/strict';
import { CdcDbDecoder } from '../../../../../plugins/database/formats/json-db/cdc-db.ts';
import { cdcDbStatement, createCdcDbEncoder } from '../../../../../plugins/database/formats/json-db/cdc-db-encoder.ts';
import type { Precision } from '../../../../../plugins/database/formats/format.ts';
import { partsOf } from '../../../../../plugins/database/formats/format.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const PLACE = { database: 'plant', schema: 'public', table: 'meters' };
const TYPES = {
  at: 'timestamp(3) with time zone',
  n: 'bigint',
  price: 'numeric(10,2)',
  weight: 'double precision',
  done: 'boolean',
  raw: 'bytea',
  note: 'jsonb',
  tags: 'text[]',
  day: 'date',
  name: 'character varying(5)',
};
const ROW = [
  '2026-01-01 00:00:00.125+00',
  '9223372036854775807',
  '1.50',
  'NaN',
  't',
  String.raw`\x00ff`,
  'null',
  '{x,NULL}',
  'infinity',
  'it"s\n',
];

function encoderOf(precision?: Precision) {
  const columns = Object.entries(TYPES).map(([name, type], index) => ({ index, name, type }));
  return createCdcDbEncoder(PLACE, columns, precision);
}

function decoded(message: string) {
  const decoder = new CdcDbDecoder({ precision: 'ms', database: 'plant' });
  decoder.add(message, { kind: 'record', topic: 't', partition: 0, offset: 0 });
  return decoder.take();
}

describe('cdc_db messages that are written', () => {
  it('give the decoder the values that the server has printed, whatever its precision is', () => {
    const { rows, faults } = decoded(encoderOf()('insert', ROW));
    assert.deepEqual(faults, []);
    assert.equal(columnsOf(rows[0]?.batch)[0], 'at time data');
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      {
        at: 1_767_225_600_125_000,
        n: 9223372036854775807n,
        price: '1.50',
        weight: NaN,
        done: true,
        raw: Buffer.from([0, 255]),
        note: 'null',
        tags: '{x,NULL}',
        day: 'infinity',
        name: 'it"s\n',
      },
    ]);
  });

  it('have NULL apart from a JSON null, and times as integers if there is a precision', () => {
    const nulls = decoded(
      encoderOf()(
        'snapshot',
        ROW.map(() => null),
      ),
    );
    assert.deepEqual(new Set(Object.values(rowsOf(nulls.rows[0]?.batch)[0] ?? {})), new Set([null]));
    const message = JSON.parse(encoderOf('ms')('insert', ROW)) as { readonly columnvalues: readonly unknown[][] };
    assert.equal(message.columnvalues[0]?.[0], 1_767_225_600_125);
  });

  it('carry statements of all kinds', () => {
    const parts = partsOf(decoded(cdcDbStatement('delete', PLACE, 'DELETE FROM "public"."meters"')));
    assert.deepEqual(
      parts.map((part) => part.kind === 'statement' && [part.statement.kind, part.statement.table, part.statement.sql]),
      [['delete', 'meters', 'DELETE FROM "public"."meters"']],
    );
  });
});
