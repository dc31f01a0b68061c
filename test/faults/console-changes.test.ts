import assert from 'node:assert/strict';
import { keepingLetters, sourceConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const COUNT = 20;

describe('changes in the console', function () {
  const shown = consolePage(assertDescribed);
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('console_changes')));
  after(() => fixture?.close());

  const line = (table: string, n: number) => `${table} n=${String(n)}i ${String(1_700_000_000_000 + n)}`;

  /** A sink that has stored its rows, without a key: each record that is delivered again adds a row. */
  async function sink(options: Readonly<Record<string, string>> = {}) {
    const topic = await fixture.topicOf([]);
    await fixture.sql.run(`create table ${topic} (ts timestamptz(3), n int8)`);
    await fixture.send(
      topic,
      Array.from({ length: COUNT }, (_, n) => line(topic, n)),
    );
    const name = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery: 'at-least-once',
      ...options,
    });
    await fixture.done(name, COUNT);
    return { name, topic };
  }

  const rowsOf = async (table: string): Promise<number> =>
    Number((await fixture.sql.rows(`select count(*) from ${table}`))[0]?.[0]);

  const open = (name: string, part: string) =>
    shown.page.goto(`${fixture.sluice.url}/ui#/connectors/${encodeURIComponent(name)}/${part}`);

  it('sets the offsets of a sink back, and as many records are delivered again as it has predicted', async () => {
    const { name, topic } = await sink();
    const { page } = shown;
    await open(name, 'offsets');
    const offsets = page.getByRole('region', { name: 'Offsets' });
    await offsets.getByRole('row', { name: `${topic}-0 0 20 20 0` }).waitFor();
    await fixture.send(topic, [line(topic, COUNT)]);
    await offsets.getByRole('row', { name: `${topic}-0 0 21 21 0` }).waitFor();

    await page.getByLabel('Continue from').selectOption({ label: 'these offsets' });
    await page.getByText('while you choose other offsets').waitFor();
    await page.getByLabel(`Offset of ${topic}-0`).fill('13');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('8 records are delivered again. 0 records are skipped.').waitFor();
    await shown.isAccessible();
    await page.getByText('Stop the connector: its tasks end').waitFor();
    await page.getByRole('button', { name: 'Stop, set and resume' }).click();
    await page.getByText('The offsets are set.').waitFor();
    await until(async () => (await rowsOf(topic)) === COUNT + 9, 'the records have been delivered again');
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('removes the offsets of a stopped sink only when its name was typed, and leaves it stopped', async () => {
    const { name, topic } = await sink();
    const { page } = shown;
    const { rest } = fixture.sluice;
    await rest.put(`/connectors/${name}/stop`);
    await open(name, 'offsets');
    await page.getByLabel('Continue from').selectOption({ label: 'as a new connector: remove all offsets' });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('20 records are delivered again.').waitFor();
    const apply = page.getByRole('button', { name: 'Set the offsets' });
    assert.ok(await apply.isDisabled());
    await page.getByLabel(/^This cannot be undone/).fill(name);
    await apply.click();
    await page.getByText('The offsets are set.').waitFor();
    const { body } = await rest.get<{ offsets: unknown[] }>(`/connectors/${name}/offsets`);
    assert.deepEqual(body.offsets, []);
    assert.equal((await rest.status(name)).connector.state, 'STOPPED');
    const row = page.getByRole('row', { name: `${topic}-0 0 beginning 20 20` });
    await row.getByText(/^\d+ (?:s|min) old$/).waitFor();
    await rest.delete(`/connectors/${name}`);
  });

  it('makes a source read its tables again from a time on', async () => {
    const table = 'console_source';
    await fixture.sql.run(
      `create table ${table} (id int8 primary key, ts timestamptz not null)`,
      `insert into ${table} select n, timestamptz '2026-01-01' + n * interval '1 hour' from generate_series(1, 10) n`,
    );
    const name = uniqueName('console-source');
    await fixture.sluice.rest.create(
      name,
      sourceConfig(fixture.db, { 'topic.prefix': name, 'table.include': table, 'timestamp.column.name': 'ts' }),
    );
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    const path = `/connectors/${name}/offsets`;
    await until(
      async () => (await fixture.sluice.rest.get<{ offsets: unknown[] }>(path)).body.offsets.length > 0,
      'the source has a position',
    );
    await open(name, 'offsets');
    const { page } = shown;
    await page.getByRole('region', { name: 'Offsets' }).getByText('2026-01-01 10:00:00.000000 UTC').waitFor();
    await page.getByLabel('Continue from').selectOption({ label: 'a time' });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Enter a time.').waitFor();
    const time = new Date('2026-01-01T06:00:00Z');
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await page.getByLabel(/^Time/).fill(local);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('5 records are delivered again. 0 records are skipped.').waitFor();
    await page.getByRole('button', { name: 'Stop, set and resume' }).click();
    await page.getByText('The offsets are set.').waitFor();
    await fixture.kafka.read(`${name}-${fixture.db.database}-${table}-json_db`, ({ length }) => length === 15);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('restores a configuration after it has shown the difference to the current one, and creates a deleted connector again', async () => {
    const { name } = await sink({ 'tasks.max': '1' });
    const { rest } = fixture.sluice;
    const { page } = shown;
    const password = 'n0t-for-browsers-91';
    await rest.request('PATCH', `/connectors/${name}/config`, { 'max.retries': '7', 'sasl.password': password });
    await rest.untilState(name, 'RUNNING', 1);
    const bodies: string[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/ui/connectors')) void response.text().then((text) => bodies.push(text));
    });
    await open(name, 'history');
    const newest = page.locator('.changes > li').first();
    await newest.getByRole('row', { name: 'max.retries not set 7' }).waitFor();
    await newest.getByText('from 127.0.0.1').waitFor();

    const created = page.locator('.changes > li', { hasText: 'created' });
    await created.getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('row', { name: 'max.retries 7 not set' }).waitFor();
    await dialog.getByText('The connector and its task restart.').waitFor();
    await dialog.getByText(/^Secrets differ: sasl.password\./).waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.locator('[role="status"]:focus', { hasText: 'is restored.' }).waitFor();
    await page.locator('.changes > li').first().getByText('configuration restored').waitFor();
    const { body: config } = await rest.get<Record<string, string>>(`/connectors/${name}/config`);
    assert.deepEqual([config['max.retries'], config['sasl.password']], [undefined, undefined]);

    await rest.delete(`/connectors/${name}`);
    await page.reload();
    await page.getByText(`There is no connector ${name}.`).waitFor();
    await page.locator('.changes > li', { hasText: 'configuration restored' }).getByRole('button').click();
    await dialog.getByText('The connector was deleted and is created again').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await rest.untilState(name, 'RUNNING', 1);
    assert.ok(bodies.length > 0);
    assert.ok(!bodies.some((body) => body.includes(password)));

    await rest.delete(`/connectors/${name}`);
    await page.goto(`${fixture.sluice.url}/ui#/`);
    await page.getByText('Deleted connectors').click();
    await shown.isAccessible();
    await page.getByRole('button', { name: `Restore ${name}` }).click();
    await dialog.getByText('The connector was deleted and is created again').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.locator('[role="status"]:focus', { hasText: `${name} is created again.` }).waitFor();
    await page.getByRole('row', { name }).waitFor();
    await page.getByRole('link', { name: `${name} is created again.` }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await rest.untilState(name, 'RUNNING', 1);
    await rest.delete(`/connectors/${name}`);
    await page.goto(`${fixture.sluice.url}/ui#/create`);
    await page.getByText('Deleted connectors').click();
    await page.getByRole('button', { name: `Restore ${name}` }).waitFor();
  });

  it('replays dead letters whose table was fixed: previewed with their rows, then with progress until they have arrived', async () => {
    const { page } = shown;
    const topic = await fixture.topicOf([]);
    await fixture.sql.run(`create table ${topic} (ts timestamptz(3), n int8 constraint small check (n < 100))`);
    await fixture.send(
      topic,
      [1, 100, 101].map((n) => line(topic, n)),
    );
    const name = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      ...keepingLetters(`${topic}-dead`),
    });
    await fixture.done(name, 3);
    await open(name, 'dead-letters');
    const group = page.locator('.group', { hasText: '23514' });
    await group.locator('summary').first().click();
    await group.getByRole('button', { name: 'What would happen now?' }).click();
    await group.getByText('Of the first 2: fails with the same fault: 2').waitFor();
    await page.getByText('Find a dead-letter record').click();
    await page.getByLabel('Offset', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    const letter = page.locator('details', { hasText: 'Find a dead-letter record' }).locator('.dead-letter');
    await letter.getByText(`From ${topic}, partition 0, offset 2`).waitFor();
    await letter.getByText('Bytes and headers').click();
    await letter.getByText(/^000000 {2}/).waitFor();

    await group.getByRole('button', { name: 'Replay these' }).click();
    const start = page.getByRole('button', { name: 'Start the replay' });
    assert.ok(await start.isDisabled());
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Of the first 2: fails with the same fault: 2').nth(1).waitFor();
    await start.click();
    const replays = page.getByRole('region', { name: 'Replays' });
    await replays.getByText('2 failed again').waitFor();
    await replays.getByRole('button', { name: 'Show what failed again' }).click();
    await replays.getByText('Of the first 2: fails with the same fault: 2').waitFor();

    await fixture.sql.run(`alter table ${topic} drop constraint small`);
    await page.getByText('Only some of them').click();
    await page.getByLabel('Class of the error is').fill('no.such.Class');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('No record is left.').waitFor();
    await page.getByLabel('Class of the error is').fill('');
    const first = page.getByRole('group', { name: 'Partition and offsets 1' });
    await first.getByLabel('Partition').fill('0');
    await first.getByLabel('To offset').fill('0');
    await page.getByRole('button', { name: 'Add another partition' }).click();
    const second = page.getByRole('group', { name: 'Partition and offsets 2' });
    await second.getByLabel('Partition').fill('0');
    await second.getByLabel('From offset').fill('1');
    await second.getByLabel('To offset').fill('1');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Of the first 2: stored: 2').waitFor();
    await page.getByRole('row', { name: /100/ }).first().waitFor();
    await shown.isAccessible();
    await start.click();
    await page.getByText('Replay 2 has started.').waitFor();
    await replays.getByText('2 records selected, 2 delivered, 0 dropped,').waitFor();
    const rows = await fixture.sql.rows(`select n from ${topic} order by n`);
    assert.deepEqual(rows.flat().map(Number), [1, 100, 101]);
    await page.reload();
    await replays.getByText('Replay 2').waitFor();
    await replays.getByText('done').first().waitFor();
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('explains how to keep dead-letter records for a sink without a topic, and shows the faults that its task remembers', async () => {
    const { name, topic } = await sink();
    await fixture.send(topic, ['this is no line']);
    await fixture.traceOf(name);
    await open(name, 'dead-letters');
    await shown.page.getByText('errors.deadletterqueue.topic.name').waitFor();
    await shown.page.getByText('The last faults (1)').waitFor();
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });
});
