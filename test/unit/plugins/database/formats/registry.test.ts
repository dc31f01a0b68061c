import assert from 'node:assert/strict';
import {
  decodedChangeFormats,
  decodedFormats,
  decodedPointFormats,
  encodedFormats,
} from '../../../../../plugins/database/formats/registry.ts';

describe('the formats of this version', () => {
  it('read and write what they are named for', () => {
    const table = {
      name: { name: 't' },
      columns: [
        { name: 'at', type: 'timestamp with time zone', nullable: false, role: 'time' },
        { name: 'n', type: 'bigint', nullable: true, role: 'data' },
      ],
    } as const;
    const decoders = {
      json_db: decodedFormats.json_db.create({ precision: 'ms', tagsWhenAbsent: 'none' }),
      line_lp: decodedFormats.line_lp.create({ precision: 'ns', now: () => 0 }),
    };
    for (const name of ['json_db', 'line_lp'] as const) {
      const message = encodedFormats[name].create(table).encode(['2023-11-14 22:13:20+00', '7']);
      decoders[name].add(message ?? '', { kind: 'line', line: 1 });
      const { rows, faults } = decoders[name].take();
      assert.deepEqual(faults, []);
      assert.deepEqual(
        rows[0]?.batch.columns.map(({ cells }) => cells),
        [[1_700_000_000_000_000], [7]],
      );
    }
  });

  it('read and write points, and read changes', () => {
    const table = {
      name: { name: 't' },
      columns: [
        { name: 'at', type: 'timestamp with time zone', nullable: false, role: 'time' },
        { name: 'n', type: 'bigint', nullable: true, role: 'data' },
      ],
    } as const;
    for (const name of ['json_tsd', 'line_tsd'] as const) {
      const message = encodedFormats[name].create(table).encode(['2023-11-14 22:13:20+00', '7']);
      const decoder = decodedPointFormats[name].create({});
      decoder.add(message ?? '', { kind: 'line', line: 1 });
      const [rows] = decoder.take().rows;
      assert.equal(rows?.metric, 't.n');
      assert.deepEqual(
        rows.batch.columns.slice(0, 2).map(({ cells }) => cells),
        [[1_700_000_000_000_000], [7]],
      );
    }
    const changes = decodedChangeFormats.cdc_db.create({ database: 'd' });
    changes.add('{"kind":"drop","database":"d","statement":"DROP TABLE t"}', { kind: 'line', line: 1 });
    assert.equal(changes.take().parts?.length, 1);
  });
});
