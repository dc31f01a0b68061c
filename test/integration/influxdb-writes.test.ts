import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { MERGE_CASES, WRITE_CASES, type InfluxCase } from '../golden/influxdb/cases.ts';
import { InfluxDb, type InfluxRow } from '../support/influxdb.ts';
import { IngestFixture } from './http-ingest-fixture.ts';

/** Recorded responses of InfluxDB 1.6, by case. */
const RECORDED = new URL('../golden/influxdb/recorded.json', import.meta.url);

interface Answer {
  readonly statuses: readonly number[];
  readonly rows: readonly InfluxRow[];
}

const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as Readonly<Record<string, Answer>>;

/** In an order that both sides can have. */
function sorted(rows: readonly InfluxRow[]): InfluxRow[] {
  const ordered = rows.map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
  return ordered.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

describe('lines, compared with InfluxDB 1.6', () => {
  let api: IngestFixture;
  before(async () => (api = await IngestFixture.start()));
  after(() => api.close());

  async function storedRows(measurement: string): Promise<InfluxRow[]> {
    const rows = await api.rows(
      `SELECT to_jsonb(each_row) - 'primary_tag' - 'k_timestamp'
         || jsonb_build_object('time', (extract(epoch FROM k_timestamp) * 1e6)::int8) FROM "${measurement}" each_row`,
    );
    return rows.map(([json]) =>
      Object.fromEntries(
        Object.entries(JSON.parse(json ?? '{}') as InfluxRow).filter(([, value]) => (value as unknown) !== null),
      ),
    );
  }

  async function written(test: InfluxCase, path: string): Promise<Answer> {
    await api.database.run(`DROP TABLE IF EXISTS "${test.measurement}"`);
    const statuses: number[] = [];
    for (const { body, precision } of test.writes) {
      const query = precision === undefined ? '' : `?precision=${encodeURIComponent(precision)}`;
      statuses.push((await api.post(path + query, body)).status);
    }
    return { statuses, rows: sorted(await storedRows(test.measurement)) };
  }

  it('the recorded answers are those of an influxd that is installed here', async function () {
    const influx = await InfluxDb.start();
    if (influx === undefined) this.skip();
    try {
      const answers: Record<string, Answer> = {};
      for (const { name, measurement, writes } of [...MERGE_CASES, ...WRITE_CASES]) {
        const statuses: number[] = [];
        for (const { body, precision } of writes) {
          statuses.push(await influx.write(body, precision === undefined ? {} : { precision }));
        }
        answers[name] = { statuses, rows: sorted(await influx.rows(measurement)) };
      }
      assert.deepEqual(recorded, answers);
    } finally {
      await influx.stop();
    }
  });

  for (const path of ['/write', '/api/v2/write', '/api/v3/write_lp', '/restapi/linedb']) {
    it(`${path} keeps the union of the fields of a series and time, the later one winning (L4)`, async () => {
      for (const test of MERGE_CASES) {
        const { rows, statuses } = await written(test, path);
        assert.deepEqual({ name: test.name, rows }, { name: test.name, rows: recorded[test.name]?.rows });
        assert.ok(statuses.every((status) => status === (path === '/restapi/linedb' ? 200 : 204)));
      }
    });
  }

  it('/write reads precision= as InfluxDB does, and keeps escapes of strings as it does (L5, M2)', async () => {
    for (const test of WRITE_CASES) {
      const answer = await written(test, '/write');
      assert.deepEqual({ name: test.name, ...answer }, { name: test.name, ...recorded[test.name] });
    }
  });
});
