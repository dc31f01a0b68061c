import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import {
  behindProxy,
  line,
  MESSAGES,
  SinkFaultsFixture,
  type ProxiedDatabase,
} from '../integration/sink-faults-fixture.ts';

describe('what a sink does when something fails', function () {
  let fixture: SinkFaultsFixture;

  before(async () => (fixture = await SinkFaultsFixture.create()));
  after(() => fixture.close());

  describe('records', () => {
    for (const [format, message] of Object.entries(MESSAGES)) {
      it(`of ${format}: five with garbage in the middle are four rows and one dead letter, and the task is RUNNING`, async () => {
        const name = `five_${format}`;
        await fixture.table(name);
        const deadLetters = uniqueName('dead');
        const garbage = 'this is { no message';
        const values = [1, 2, 3, 4, 5].map((n) => (n === 3 ? garbage : message(name, n, fixture.db.database)));
        const topic = await fixture.topicOf(values.map((value) => ({ value, key: 'k' })));
        const connector = await fixture.startNumbers(topic, {
          'protocol.type': format,
          'errors.tolerance': 'all',
          'errors.log.enable': 'true',
          'errors.log.include.messages': 'true',
          'errors.deadletterqueue.topic.name': deadLetters,
          'errors.deadletterqueue.topic.replication.factor': '1',
          'errors.deadletterqueue.context.headers.enable': 'true',
        });
        await fixture.done(connector, 5);
        assert.deepEqual(await fixture.numbers(name), [1, 2, 4, 5]);
        // A row that the table refuses is found among its neighbours.
        const more = [6, 13, 7].map((n) => ({ value: message(name, n, fixture.db.database) }));
        await fixture.kafka.produce(topic, more);
        await fixture.done(connector, 8);
        assert.deepEqual(await fixture.numbers(name), [1, 2, 4, 5, 6, 7]);
        await fixture.sluice.rest.untilState(connector, 'RUNNING', 1);

        const dead = await fixture.kafka.read(deadLetters, ({ length }) => length >= 2);
        assert.deepEqual(
          dead.map(({ key, value }) => [key?.toString(), value?.toString()]),
          [
            ['k', garbage],
            [undefined, more[1]?.value],
          ],
        );
        const header = (index: number, key: string) =>
          dead[index]?.headers.find((each) => each.key === `__connect.errors.${key}`)?.value?.toString() ?? '';
        const expected = {
          topic,
          partition: '0',
          offset: '6',
          'connector.name': connector,
          'task.id': '0',
          stage: 'TASK_PUT',
          'class.name': 'org.apache.kafka.connect.sink.SinkTask',
          'exception.class.name': 'java.sql.SQLException',
        };
        for (const [key, value] of Object.entries(expected)) assert.equal(header(1, key), value, key);
        assert.match(
          header(1, 'exception.message'),
          new RegExp(`"${name}" violates check constraint "${name}_n_check"`),
        );
        const own = dead[1]?.headers.filter(({ key }) => key.startsWith('sluice.'));
        assert.deepEqual(Object.fromEntries(own?.map(({ key, value }) => [key, value?.toString()]) ?? []), {
          'sluice.timestamp': String(dead[1]?.timestamp),
          'sluice.sqlstate': '23514',
          'sluice.table': name,
        });
        assert.match(header(1, 'exception.stacktrace'), /^java\.sql\.SQLException: .*violates check constraint/);
        assert.equal(header(0, 'offset'), '2');
        assert.equal(header(0, 'exception.class.name'), 'org.apache.kafka.connect.errors.DataException');
        assert.match(
          fixture.sluice.log,
          new RegExp(
            `Error encountered in task ${connector}-0. Executing stage 'TASK_PUT' with class '[\\w.]+', where consumed record is {topic='${topic}', partition=0, offset=2,`,
          ),
        );
      });
    }
  });

  describe('an unreachable database', () => {
    let away: ProxiedDatabase;

    before(async () => (away = await behindProxy(fixture.db)));
    after(() => away.proxy.close());
    afterEach(() => {
      away.proxy.pass();
    });

    it('fails the task after max.retries, counted from the start after every success, with the first record that waits', async () => {
      await fixture.table('counted');
      const topic = await fixture.topicOf([line('counted', 0)]);
      const name = await fixture.startNumbers(
        topic,
        { 'max.retries': '2', 'connection.attempts': '20', 'connection.backoff.ms': '100' },
        away.access,
      );
      await fixture.done(name, 1);
      for (let outage = 1; outage <= 3; outage++) {
        away.proxy.refuse();
        await fixture.kafka.produce(topic, [line('counted', outage)]);
        const tried = () =>
          fixture.sluice.log.split('for table counted could not be written (retry 1 of 2)').length - 1;
        await until(() => tried() === outage, 'a write has failed');
        away.proxy.pass();
        await fixture.done(name, outage + 1);
      }
      away.proxy.refuse();
      await fixture.kafka.produce(topic, [line('counted', 9)]);
      const trace = await fixture.traceOf(name);
      assert.match(
        trace,
        new RegExp(
          `Caused by: java\\.sql\\.SQLException: 1 row for table counted, the first from topic ${topic}, partition 0, offset 4, could not be written after 2 retries: cannot connect to database`,
        ),
      );
      assert.equal(await fixture.kafka.committed(`connect-${name}`), 4);
    });

    it('that does not respond delays neither a pause nor the end of the connector', async () => {
      await fixture.table('silent');
      const topic = await fixture.topicOf([line('silent', 0)]);
      const name = await fixture.startNumbers(topic, { 'batch.size': '10', 'batch.size.auto': 'false' }, away.access);
      await fixture.done(name, 1);
      away.proxy.stall();
      await fixture.kafka.produce(
        topic,
        Array.from({ length: 2000 }, (_, index) => line('silent', 100 + index)),
      );
      await fixture.sluice.rest.put(`/connectors/${name}/pause`);
      await fixture.sluice.rest.untilState(name, 'PAUSED', 1, { timeoutMs: 20_000 });
      assert.equal((await fixture.sluice.rest.delete(`/connectors/${name}`)).status, 204);
      await until(
        async () => (await fixture.sluice.rest.get(`/connectors/${name}/status`)).status === 404,
        'it is gone',
        {
          timeoutMs: 10_000,
        },
      );
    });
  });
});
