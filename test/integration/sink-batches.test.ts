import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from './sink-fixture.ts';

const ROWS = 2000;

describe('the batches of a sink', function () {
  let fixture: SinkFixture;

  before(async () => {
    fixture = await SinkFixture.create('sink-batches');
  });

  after(() => fixture.close());

  const struct = (table: string): Record<string, string> => ({
    'protocol.type': 'struct',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'false',
    'table.name.format': table,
  });

  /** The rows of each transaction. */
  async function writesOf(topic: string, options: Readonly<Record<string, string>>): Promise<readonly number[]> {
    const table = uniqueName('batches').replaceAll('-', '_');
    await fixture.sql.run(`create table ${table} (n int8)`);
    await fixture.start(topic, { ...struct(table), ...options });
    const rows = (): Promise<(string | null)[][]> =>
      fixture.sql.rows(`select count(*) from ${table} group by xmin order by 1`);
    return until(
      async () => {
        const sizes = (await rows()).map(([count]) => Number(count));
        return sizes.reduce((sum, size) => sum + size, 0) >= ROWS ? sizes : undefined;
      },
      `${String(ROWS)} rows are stored`,
    );
  }

  it('have at most the rows that batch.size says with batch.size.auto=false', async () => {
    const topic = await fixture.topicOf(Array.from({ length: ROWS }, (_none, n) => `{"n":${String(n)}}`));
    for (const delivery of ['at-least-once', 'exactly-once']) {
      const sizes = await writesOf(topic, { 'batch.size': '300', 'batch.size.auto': 'false', delivery });
      assert.ok(Math.max(...sizes) <= 300, sizes.join(', '));
    }
  });

  it('grow in the same way from a batch.size that was set and from an equal default (M5)', async () => {
    const topic = await fixture.topicOf(Array.from({ length: ROWS }, (_none, n) => `{"n":${String(n)}}`));
    for (const options of [{}, { 'batch.size': '1000' }]) {
      const sizes = await writesOf(topic, options);
      assert.ok(Math.max(...sizes) > 300, sizes.join(', '));
    }
  });
});
