import assert from 'node:assert/strict';
import type { DecodedRows } from '../../../../../plugins/database/formats/format.ts';
import { JsonTsdDecoder } from '../../../../../plugins/database/formats/tsd/json-tsd.ts';
import { MetricTargets } from '../../../../../plugins/database/formats/tsd/metric-targets.ts';

const STORED = { stored: 1, discarded: 0, collapsed: 0, faults: [] };

function point(metric: string): DecodedRows {
  const decoder = new JsonTsdDecoder();
  decoder.add(JSON.stringify([{ metric, timestamp: 1_700_000_000, value: 1 }]), { kind: 'line', line: 1 });
  const [rows] = decoder.take().rows;
  assert.ok(rows);
  return rows;
}

describe('the tables of metrics', () => {
  it('are looked up once, and again after rows were refused or a write failed', async () => {
    const asked: string[] = [];
    const targets = new MetricTargets((name) => {
      asked.push(name);
      return Promise.resolve(name === 'meters' ? { columns: [{ name: 'v', role: 'data' }] } : undefined);
    });
    const written: string[] = [];
    const store = ({ batch }: DecodedRows) => {
      written.push(batch.table.name);
      return Promise.resolve(STORED);
    };
    await targets.write(point('meters.v'), store);
    await targets.write(point('meters.v'), store);
    assert.deepEqual([asked, written], [['meters'], ['meters', 'meters']]);

    const fault = { scope: 'record', message: 'no', origin: undefined } as const;
    const refused = await targets.write(point('meters.v'), () => Promise.resolve({ ...STORED, faults: [fault] }));
    assert.deepEqual(refused.faults, [fault]);
    await assert.rejects(
      targets.write(point('meters.v'), () => Promise.reject(new Error('away'))),
      /away/,
    );
    await targets.write(point('meters.v'), store);
    assert.equal(asked.length, 3);
  });

  it('are looked up together, after the batches that may create them', async () => {
    const tables = new Set(['meters']);
    const asked: (readonly string[])[] = [];
    const targets = new MetricTargets(() => Promise.reject(new Error('asked alone')));
    const find = (names: readonly string[]) => {
      asked.push(names);
      const columns = [{ name: 'value', role: 'data' as const }];
      return Promise.resolve(names.map((name) => (tables.has(name) ? { columns } : undefined)));
    };
    const written: string[] = [];
    const store = (all: readonly DecodedRows[]) => {
      for (const { batch } of all) {
        tables.add(batch.table.name);
        written.push(batch.table.name);
      }
      return Promise.resolve(all.map(() => ({ status: 'fulfilled', value: STORED }) as const));
    };
    const all = ['meters.value', 'a.b', 'x', 'a.b.value'].map(point);
    const settled = await targets.writeAll(all, store, find);
    assert.deepEqual(
      settled.map(({ status }) => status),
      all.map(() => 'fulfilled'),
    );
    assert.deepEqual(written, ['meters', 'a.b', 'x', 'a.b']);
    assert.deepEqual(asked, [
      ['meters', 'meters.value', 'a', 'a.b', 'x'],
      ['a.b', 'a', 'a.b.value'],
    ]);
    await targets.writeAll(all, store, find);
    assert.equal(asked.length, 2);

    const refusing = () => Promise.resolve([{ status: 'rejected', reason: new Error('away') } as const]);
    assert.equal((await targets.writeAll([point('x')], refusing, find))[0]?.status, 'rejected');
    await targets.writeAll([point('x')], store, find);
    assert.deepEqual(asked[2], ['x']);
  });
});
