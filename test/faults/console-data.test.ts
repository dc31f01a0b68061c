import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { uniqueName } from '../support/services.ts';
import { clusterServices, workerServices } from '../support/worker-services.ts';

describe('the data of a connector in the console', () => {
  const shown = consolePage(assertDescribed);
  const on = workerServices('console_data');

  const rows = () => shown.page.getByRole('region', { name: 'Messages' }).last().locator('tbody tr');

  it('shows the newest messages, finds one by its key and by its offset, and its rows in a preview', async () => {
    const name = uniqueName('peek');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await on.kafka.createTopic(name, 2);
    const messages = Array.from({ length: 120 }, (_, number) => ({
      key: `key-${String(number)}`,
      value: `${name} v=${String(number)}i ${String(1_700_000_000_000 + number)}`,
      partition: number % 2,
    }));
    await on.kafka.produce(name, messages);
    const config = sinkConfig(on.db, {
      'topics.regex': `${name}.*`,
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
    });
    await on.worker.rest.create(name, config);
    await on.worker.rest.untilState(name, 'RUNNING', 1);

    await shown.page.goto(`${on.worker.url}/ui#/connectors/${name}/data`);
    await rows().first().waitFor();
    assert.equal(await rows().count(), 50);
    await shown.page.getByText(/^Searched \d+ records so far/).waitFor();
    await shown.page.getByRole('button', { name: 'Older messages' }).click();
    await rows().nth(99).waitFor();

    await shown.page.getByLabel('Key').fill('key-7');
    await shown.page.getByRole('button', { name: 'Search' }).click();
    await shown.page.getByText('Searched 120 records.').waitFor();
    assert.equal(await rows().count(), 1);
    assert.match(await rows().first().innerText(), /v=7i/);
    await rows()
      .getByRole('button', { name: `Show message ${name}-1@3` })
      .click();
    await shown.page.getByRole('button', { name: 'What would this become?' }).click();
    await shown.page.locator('.message').getByRole('status').getByText(/\b7\b/).first().waitFor();

    await shown.page.getByLabel('Key').fill('');
    await shown.page.getByLabel('Partition').selectOption('0');
    await shown.page.getByLabel('Up to offset').fill('3');
    await shown.page.getByRole('button', { name: 'Search' }).click();
    await shown.page.getByText('Searched 4 records.').waitFor();
    const offsets = await rows().locator('td:nth-child(2)').allTextContents();
    assert.deepEqual(offsets, ['3', '2', '1', '0']);
    await shown.page.getByLabel('From offset').fill('2');
    await shown.page.getByRole('button', { name: 'Search' }).click();
    await shown.page.getByText('Searched 2 records.').waitFor();
    assert.deepEqual(await rows().locator('td:nth-child(2)').allTextContents(), ['3', '2']);

    await shown.page.getByRole('button', { name: 'Newest messages' }).click();
    await rows().nth(49).waitFor();
    await shown.page.getByLabel('Value contains').fill('v=11');
    await shown.page.getByRole('button', { name: 'Search' }).click();
    await shown.page.getByText('Searched 120 records.').waitFor();
    assert.equal(await rows().count(), 11);

    await shown.page.getByRole('button', { name: 'Live', exact: true }).click();
    await shown.page.getByText(/^Live until \d\d:\d\d:\d\d/).waitFor();
    const later = ['v=5i', 'v=1199i', 'v=6i'].map((field) => ({
      value: `${name} ${field} 1700000001000`,
      partition: 0,
    }));
    await on.kafka.produce(name, later);
    await rows().first().getByText('v=1199i').waitFor();
    assert.equal(await rows().count(), 12);
    await shown.isAccessible();
    await shown.page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))",
    );
    await shown.page.getByText('The live view has ended, because the page was hidden.').waitFor();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('shows the bytes and the fault of a message that the converter cannot read', async () => {
    const name = uniqueName('peek');
    await on.kafka.createTopic(name, 1);
    await on.kafka.produce(name, [{ value: '{"a":1}' }, { value: '{oops' }]);
    const converter = {
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    };
    await on.worker.rest.create(
      name,
      sinkConfig(on.db, { topics: name, 'protocol.type': 'struct', 'errors.tolerance': 'all', ...converter }),
    );
    await shown.page.goto(`${on.worker.url}/ui#/connectors/${name}/data`);
    const broken = shown.page.getByRole('row', { name: 'Cannot be decoded' });
    await broken.getByText('0x7b6f6f7073').waitFor();
    await broken.getByRole('button').click();
    await shown.page.getByText(/^Cannot be decoded: .+/).waitFor();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('goes back by pages to the first message, each once and in the order of time, from any time', async () => {
    const name = uniqueName('peek');
    await on.kafka.createTopic(name, 3);
    const startMs = Date.now() - 120 * 60_000;
    const values = Array.from({ length: 120 }, (_, number) => ({
      value: String(number),
      partition: number % 3,
      timestamp: startMs + number * 60_000,
    }));
    await on.kafka.produce(name, values);
    await on.worker.rest.create(
      name,
      sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', 'errors.tolerance': 'all' }),
    );
    const ask = async (body: object) => {
      const response = await fetch(`${on.worker.url}/ui/connectors/${name}/messages`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const page = (await response.json()) as {
        readonly messages: readonly { readonly value: { readonly text: string } }[];
        readonly next: readonly object[];
        readonly ends: readonly object[];
      };
      return { texts: page.messages.map(({ value }) => Number(value.text)), next: page.next, ends: page.ends };
    };
    const found: number[] = [];
    for (let page = await ask({ limit: 50 }); ; page = await ask({ limit: 50, before: page.next })) {
      found.push(...page.texts);
      if (page.next.length === 0) break;
    }
    assert.deepEqual(
      found,
      Array.from({ length: 120 }, (_, index) => 119 - index),
    );
    assert.deepEqual((await ask({ time: startMs + 10 * 60_000, limit: 2 })).texts, [10, 9]);
    assert.deepEqual((await ask({ time: startMs - 1 })).texts, []);
    assert.deepEqual((await ask({ time: startMs + 10 * 60_000, partition: 0, limit: 2 })).texts, [9, 6]);
    assert.deepEqual((await ask({ fromTime: startMs + 117 * 60_000 })).texts, [119, 118, 117]);
    assert.deepEqual((await ask({ fromOffset: 1, offset: 1 })).texts, [5, 4, 3]);
    assert.deepEqual((await ask({ text: '11', time: startMs + 111 * 60_000 })).texts, [111, 110, 11]);
    const { ends } = await ask({ limit: 1 });
    assert.deepEqual(await ask({ after: ends }), { texts: [], next: [], ends });
    await on.kafka.produce(name, [{ value: '120' }]);
    assert.deepEqual((await ask({ after: ends })).texts, [120]);
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('hides secrets from a search, so that no part of them can be guessed', async () => {
    const name = uniqueName('peek');
    const secret = 'zebra-quagga-okapi';
    await on.kafka.createTopic(name, 1);
    await on.kafka.produce(name, [{ value: `password ${secret}` }]);
    const more = { topics: name, 'protocol.type': 'line_lp', 'errors.tolerance': 'all', 'connection.password': secret };
    await on.worker.rest.create(name, { ...sinkConfig(on.db, more), 'connection.url': 'jdbc:db://127.0.0.1:1/x' });
    const textsWith = async (text: string): Promise<readonly string[]> => {
      interface Found {
        readonly messages: readonly { readonly value: { readonly text: string } }[];
      }
      const { body } = await on.worker.rest.post<Found>(`/ui/connectors/${name}/messages`, { text });
      return body.messages.map(({ value }) => value.text);
    };
    assert.deepEqual(await textsWith('password'), ['password [hidden]']);
    assert.deepEqual(await textsWith('quagga'), []);
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('is refused for topics that the connector does not read', async () => {
    const name = uniqueName('peek');
    await on.kafka.createTopic(name, 1);
    await on.worker.rest.create(name, sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp' }));
    const ask = async (body: object) => {
      const { status, body: answer } = await on.worker.rest.post<{ message: string }>(
        `/ui/connectors/${name}/messages`,
        body,
      );
      return [status, answer.message] as const;
    };
    assert.deepEqual(await ask({ topic: '__consumer_offsets' }), [
      400,
      'Topic __consumer_offsets is not one of the connector',
    ]);
    assert.equal((await ask({ limit: 100_000 }))[0], 400);
    assert.equal((await ask({ partition: 7 }))[0], 400);
    await on.worker.rest.delete(`/connectors/${name}`);
  });
});

describe('the cluster in the console', function () {
  const shown = consolePage(assertDescribed);
  const on = clusterServices('cluster_view', 3, {
    'scheduled.rebalance.max.delay.ms': '0',
    'session.timeout.ms': '6000',
  });

  const idOf = (index: number) => new URL(on.cluster.worker(index).url).host;
  const rowOf = (id: string) => shown.page.getByRole('region', { name: 'Workers' }).getByRole('row', { name: id });

  it('shows each worker with its current activity, and the problems of the internal topics', async () => {
    await shown.page.goto(`${on.cluster.worker(0).url}/ui#/cluster`);
    for (const index of [0, 1, 2])
      await rowOf(idOf(index))
        .getByText(/^\d.* MB of \d/)
        .waitFor();
    assert.equal(await shown.page.getByText('Leader', { exact: true }).count(), 1);
    await shown.page.getByRole('link', { name: 'Internal topics' }).click();
    const { properties } = on.cluster.worker(0);
    const topic = shown.page.getByRole('row', { name: properties['config.storage.topic'] ?? '' }).first();
    await topic.getByText('compact', { exact: true }).waitFor();
    assert.match(await topic.innerText(), /\d+(\.\d)? (B|kB)/);
  });

  it('finds an option of a plugin', async () => {
    await shown.page.goto(`${on.cluster.worker(0).url}/ui#/cluster/plugins`);
    await shown.page.getByLabel('Search', { exact: true }).fill('db sink');
    await shown.page.getByRole('button', { name: 'DbSinkConnector' }).click();
    await shown.page.getByLabel('Search the options').fill('dead letter topic name');
    await shown.page.getByRole('rowheader', { name: 'errors.deadletterqueue.topic.name' }).waitFor();
  });

  it('sets the level of a logger on all workers', async () => {
    await shown.page.goto(`${on.cluster.worker(1).url}/ui#/cluster/loggers`);
    await shown.page.getByLabel('Another logger').fill('console.test');
    await shown.page.getByRole('button', { name: 'Set' }).click();
    await shown.page.getByText('console.test logs at DEBUG on all workers.').waitFor();
    await shown.page.getByRole('combobox', { name: 'Level of console.test' }).waitFor();
  });

  it('follows the group when a worker is drained, and when one is lost', async () => {
    const name = uniqueName('cluster');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await on.kafka.createTopic(name, 6);
    await on.cluster
      .rest(0)
      .create(name, sinkConfig(on.db, { topics: name, 'tasks.max': '6', 'protocol.type': 'line_lp' }));
    await on.cluster.untilRuns(name, 6);
    await on.cluster.settled();

    await shown.page.goto(`${on.cluster.worker(0).url}/ui#/cluster`);
    await rowOf(idOf(1))
      .getByRole('button', { name: `Drain ${idOf(1)}` })
      .click();
    const dialog = shown.page.getByRole('dialog', { name: `Drain ${idOf(1)}?` });
    await dialog.getByText(/in small batches, and receives no others/).waitFor();
    await shown.isAccessible();
    await dialog.getByRole('button', { name: 'Drain' }).click();
    await rowOf(idOf(1)).getByText('Drained').waitFor();
    await rowOf(idOf(1)).getByText('It can be stopped now.').waitFor();
    await shown.isAccessible();
    await rowOf(idOf(1))
      .getByText(/^\d[\d.]* MB of \d[\d.]* GB$/)
      .waitFor();
    await on.cluster.untilRuns(name, 6, [0, 2]);

    await on.cluster.worker(2).kill();
    await rowOf(idOf(2)).waitFor({ state: 'detached' });
    await on.cluster.untilRuns(name, 6, [0]);
    await shown.page
      .getByRole('region', { name: 'Threads' })
      .getByRole('link', { name: `${name}-5` })
      .waitFor();
    const rebalances = shown.page.getByRole('region', { name: 'Rebalances' });
    const openAll = async (): Promise<void> => {
      const folded = rebalances.locator('details:not([open]) > summary');
      while ((await folded.count()) > 0) await folded.first().click();
    };
    await openAll();
    await rebalances
      .getByText(/got \d: .*-\d/)
      .first()
      .waitFor();
    await shown.page.getByRole('combobox').selectOption(idOf(1));
    await shown.page.getByRole('heading', { name: `The last rebalances of ${idOf(1)}` }).waitFor();
    await openAll();
    await rebalances
      .getByText(/released \d: /)
      .first()
      .waitFor();
    await shown.isAccessible();
    await on.cluster.rest(0).delete(`/connectors/${name}`);
  });
});
