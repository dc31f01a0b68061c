import assert from 'node:assert/strict';
import { Kafka, logLevel } from 'kafkajs';
import type { ClientProperties, Handover, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { CommitRefusedError } from '../../src/kafka/errors/kafka-errors.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { FROM_BEGINNING, GroupReader, QUICK } from './group-reader.ts';
import {
  newTopic,
  pollUntil,
  produceNumbers,
  rebalanceLog,
  record,
  recordingLogger,
  sharedClient,
  values,
} from './kafka-fixture.ts';

/** Client properties of a group whose broker assigns the partitions. */
const BY_BROKER: ClientProperties = { 'group.protocol': 'consumer' };

describe('a consumer group', () => {
  let client: KafkaClient;

  before(async () => {
    client = await sharedClient();
  });

  const protocols: readonly ClientProperties[] = [
    { 'partition.assignment.strategy': 'range' },
    { 'partition.assignment.strategy': 'cooperative-sticky' },
    BY_BROKER,
  ];
  for (const protocol of protocols) {
    const name = Object.entries(protocol).flat().join('=');
    it(`shares partitions (${name}), and loses or doubles nothing while members come and go`, () =>
      comeAndGo(protocol));
  }

  async function comeAndGo(protocol: ClientProperties): Promise<void> {
    const topic = await newTopic(client, 6);
    const reader = (): GroupReader => new GroupReader(client, topic, topic, protocol);
    const readers = [reader()];
    const producer = client.producer();
    let produced = 0;
    const produce = async (): Promise<void> => {
      const numbers = Array.from({ length: 200 }, (_none, index) => produced + index);
      await producer.send(numbers.map((n) => record(topic, String(n), { partition: n % 6 })));
      produced += 200;
    };
    const shared = (): boolean => {
      const owned = readers.flatMap((reader) => reader.owned());
      return owned.length === 6 && new Set(owned).size === 6 && readers.every((reader) => reader.owned().length > 0);
    };
    for (let members = 1; members <= 3; members++) {
      while (readers.length < members) readers.push(reader());
      await produce();
      await until(shared, `${String(members)} members share six partitions`);
      await produce();
    }
    await readers[0]?.close();
    const [gone] = readers.splice(0, 1);
    await until(shared, 'the two that are left share them again');
    await produce();
    const all = (): string[] => [gone, ...readers].flatMap((reader) => values(reader?.records ?? []).map(String));
    await until(() => all().length >= produced, 'all records were read');
    assert.deepEqual(
      all()
        .map(Number)
        .sort((a, b) => a - b),
      Array.from({ length: produced }, (_none, index) => index),
    );
    await Promise.all(readers.map((reader) => reader.close()));
    await producer.close();
  }

  it('keeps the place of a static member that is restarted, and fences one whose id another takes (KIP-345)', async () => {
    const topic = await newTopic(client, 2);
    const member = (id: string): GroupReader => new GroupReader(client, topic, topic, { 'group.instance.id': id });
    const [first, second] = [member('one'), member('two')];
    await until(() => first.owned().length === 1 && second.owned().length === 1, 'both have one');
    const [before] = first.owned();
    const told = [...second.log.events];
    await first.close();
    const again = member('one');
    await until(() => again.owned().length === 1, 'it has returned');
    assert.deepEqual([again.owned(), second.log.events], [[before], told]);
    const thief = client.consumer({ ...QUICK, 'group.id': topic, 'group.instance.id': 'two' });
    thief.subscribe([topic], rebalanceLog());
    await until(
      async () => (await thief.poll(50)).length === 0 && thief.assignment().length === 1,
      'it took the place',
    );
    await until(() => second.log.events.length > told.length, 'the other hears that it lost its place');
    await assert.rejects(second.close(), /FENCED_INSTANCE_ID/);
    await Promise.all([second.consumer.close(5000), again.close(), thief.close(5000)]);
  });

  for (const strategy of ['range', 'cooperative-sticky']) {
    it(`does not rebalance when a member hands over to another consumer (${strategy})`, async () => {
      const topic = await newTopic(client, 2);
      const member = (name: string, handover?: Handover): GroupReader => {
        const own = {
          'client.id': name,
          'sluice.group.member.owner': topic,
          'partition.assignment.strategy': strategy,
        };
        return new GroupReader(client, topic, topic, own, handover);
      };
      const [one, two] = [member('one'), member('two')];
      const share = (): boolean => one.owned().length === 1 && two.owned().length === 1;
      await until(share, 'both have one');
      const told = [...two.log.events];
      const producer = client.producer();
      const produce = (from: number) =>
        producer.send([0, 1, 2, 3].map((n) => record(topic, String(from + n), { partition: n % 2 })));
      await produce(0);
      await until(() => one.records.length + two.records.length === 4, 'all is read');
      // The one that leads, and so divides the partitions, and the one that does not.
      let [follows, goes] = [two, one];
      for (let round = 1; round <= 2; round++) {
        const before = goes.owned();
        const handover = await goes.handOver();
        assert.deepEqual(Object.keys(handover?.partitions ?? {}), handover?.isLeader === true ? [topic] : []);
        const next = member(goes === one ? 'one' : 'two', handover);
        await until(() => next.owned().length === 1, 'the next continues');
        assert.deepEqual(next.owned(), before);
        assert.deepEqual(next.log.events, [`onAssigned ${String(before[0])}`]);
        await produce(round * 4);
        await until(() => next.records.length === 2, 'it reads what is new, and nothing twice');
        await until(() => follows.records.length === 4, 'the other reads on');
        if (round === 1) assert.deepEqual(follows.log.events, told, 'the listener of the other was not called');
        [follows, goes] = [next, follows];
      }
      await Promise.all([follows.close(), goes.close(), producer.close()]);
    });
  }

  it('is joined as a new member if it does not know the handover, and what else is left of that client is removed', async () => {
    const topic = await newTopic(client, 1);
    const own = { 'client.id': `task-of-${topic}`, 'sluice.group.member.owner': 'workers' };
    const first = new GroupReader(client, topic, topic, own);
    await until(() => first.owned().length === 1, 'the first has joined');
    const handover = await first.handOver();
    assert.ok(handover !== undefined);
    const taken = new GroupReader(client, topic, topic, own, { ...handover, memberId: 'nobody' });
    await until(() => taken.owned().length === 1, 'it has the partition long before a session ends');
    const commits = () =>
      taken.commit().then(
        () => true,
        () => false,
      );
    await until(commits, 'its commits count');
    await taken.close();
  });

  it('continues to read the partitions it keeps while others join, where the assignor is cooperative (KIP-429)', async () => {
    const topic = await newTopic(client, 4);
    const cooperative = {
      'partition.assignment.strategy': 'org.apache.kafka.clients.consumer.CooperativeStickyAssignor',
    };
    const first = new GroupReader(client, topic, topic, cooperative);
    await until(() => first.owned().length === 4, 'the first has all');
    const second = new GroupReader(client, topic, topic, cooperative);
    await until(() => first.owned().length === 2 && second.owned().length === 2, 'both have two');
    assert.deepEqual(first.log.events, ['onAssigned 0,1,2,3', 'onRevoked 2,3']);
    assert.deepEqual(second.log.events, ['onAssigned ', 'onAssigned 2,3']);
    await second.close();
    await until(() => first.owned().length === 4, 'the first has all again');
    assert.deepEqual(first.log.events.slice(2), ['onAssigned 2,3']);
    await first.close();
    assert.deepEqual(first.log.events.slice(3), ['onRevoked 0,1,2,3']);
  });

  it('accepts commits in onRevoked, and the next owner starts there', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 10 });
    const first = client.consumer({ ...QUICK, 'group.id': topic });
    const log = rebalanceLog({ onRevoked: () => first.commit([{ topic, partition: 0, offset: 4 }]) });
    first.subscribe([topic], log);
    await pollUntil(first, (got) => got.length >= 10);
    await first.close(5000);
    assert.deepEqual(log.events, ['onAssigned 0', 'onRevoked 0']);
    const second = client.consumer({ ...QUICK, 'group.id': topic });
    second.subscribe([topic], rebalanceLog());
    const records = await pollUntil(second, (got) => got.length >= 6);
    assert.equal(records[0]?.offset, 4);
    await second.close(5000);
  });

  it('knows its positions when onAssigned is called, and starts where that seeks', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 10 });
    const consumer = client.consumer({ ...QUICK, 'group.id': topic });
    const known: (number | undefined)[] = [];
    const onAssigned = async (): Promise<void> => {
      known.push(consumer.position({ topic, partition: 0 }));
      consumer.seek({ topic, partition: 0, offset: 7 });
    };
    consumer.subscribe([topic], rebalanceLog({ onAssigned }));
    const records = await pollUntil(consumer, (got) => got.length >= 3);
    assert.deepEqual(known, [0]);
    assert.deepEqual(values(records), ['7', '8', '9']);
    await consumer.close(5000);
  });

  it('reports lost partitions and refuses commits when the group continued without it', async () => {
    const topic = await newTopic(client, 1);
    // The others wait for a member that does not poll for this long.
    const impatient = { ...QUICK, 'group.id': topic, 'max.poll.interval.ms': '500' };
    const slow = client.consumer(impatient);
    const slowLog = rebalanceLog();
    slow.subscribe([topic], slowLog);
    await until(
      async () => (await slow.poll(50)).length === 0 && slow.assignment().length === 1,
      'the first has joined',
    );
    const other = client.consumer(impatient);
    other.subscribe([topic], rebalanceLog());
    await until(
      async () => (await other.poll(50)).length === 0 && other.assignment().length === 1,
      'the other took over',
    );
    await assert.rejects(slow.commit([{ topic, partition: 0, offset: 1 }]), (error: unknown) => {
      assert.ok(error instanceof CommitRefusedError);
      return true;
    });
    await slow.poll(100);
    assert.deepEqual(slowLog.events, ['onAssigned 0', 'onLost 0']);
    await Promise.all([slow.close(5000), other.close(5000)]);
  });

  it('picks up topics that match its predicate later, and new partitions', async () => {
    const prefix = uniqueName('kafka-pattern');
    const consumer = client.consumer({ ...QUICK, 'group.id': prefix, 'metadata.max.age.ms': '200' });
    consumer.subscribe((name) => name.startsWith(prefix), rebalanceLog());
    assert.deepEqual(await consumer.poll(300), []);
    const admin = client.admin();
    const topics = [`${prefix}-a`, `${prefix}-b`];
    for (const name of topics) {
      await admin.createTopic({ name, partitions: 1, replicationFactor: 1, settings: {} });
      await produceNumbers(client, name, { count: 2 });
      const records = await pollUntil(consumer, (got) => got.some(({ topic }) => topic === name));
      assert.deepEqual(values(records.filter(({ topic }) => topic === name)), ['0', '1']);
    }
    const { bootstrapServers } = await broker();
    const library = new Kafka({ brokers: bootstrapServers.split(','), logLevel: logLevel.NOTHING }).admin();
    await library.connect();
    await library.createPartitions({ topicPartitions: [{ topic: `${prefix}-a`, count: 2 }] });
    await library.disconnect();
    await until(async () => {
      await consumer.poll(50);
      return consumer.assignment().length === 3;
    }, 'the new partition is assigned');
    await admin.deleteTopics(topics);
    await until(async () => {
      await consumer.poll(50);
      return consumer.assignment().length === 0;
    }, 'deleted topics are given up');
    await Promise.all([admin.close(), consumer.close(5000)]);
  });

  it('joins at once for a topic that does not exist, and has it soon after it was created', async () => {
    const topic = uniqueName('kafka-missing');
    const consumer = client.consumer({ ...QUICK, 'group.id': topic });
    const log = rebalanceLog();
    consumer.subscribe([topic], log);
    await until(async () => (await consumer.poll(50)).length === 0 && log.events.length > 0, 'the member has joined');
    assert.deepEqual(log.events, ['onAssigned ']);
    const admin = client.admin();
    await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} });
    await produceNumbers(client, topic, { count: 1 });
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length > 0, 5000)), ['0']);
    await Promise.all([admin.close(), consumer.close(5000)]);
  });

  it('rejects the poll when the group is of another protocol', async () => {
    const topic = await newTopic(client);
    const first = client.consumer({ ...QUICK, 'group.id': topic, 'partition.assignment.strategy': 'roundrobin' });
    first.subscribe([topic], rebalanceLog());
    await until(
      async () => (await first.poll(50)).length === 0 && first.assignment().length === 1,
      'the first has joined',
    );
    const second = client.consumer({ ...QUICK, 'group.id': topic });
    second.subscribe([topic], rebalanceLog());
    await assert.rejects(async () => {
      for (let polls = 0; polls < 50; polls++) await second.poll(100);
    }, /INCONSISTENT_GROUP_PROTOCOL/);
    await Promise.all([first.close(5000), second.close(5000)]);
  });

  it('leaves while it still waits for the group to join', async () => {
    const topic = await newTopic(client);
    const first = client.consumer({ ...QUICK, 'group.id': topic });
    first.subscribe([topic], rebalanceLog());
    await until(
      async () => (await first.poll(50)).length === 0 && first.assignment().length === 1,
      'the first has joined',
    );
    const { lines, logger } = recordingLogger();
    const { bootstrapServers } = await broker();
    const second = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, logger).consumer({
      ...QUICK,
      'group.id': topic,
    });
    second.subscribe([topic], rebalanceLog());
    await second.poll(100);
    const startedAt = Date.now();
    await second.close(60_000);
    assert.ok(Date.now() - startedAt < 5000);
    assert.deepEqual(
      lines.filter(({ level }) => level >= 40),
      [],
      'it closed the connection itself, no broker is unreachable',
    );
    await until(
      async () => (await first.poll(50)).length === 0 && first.assignment().length === 1,
      'the first continues',
    );
    await first.close(5000);
  });

  describe('whose broker divides the partitions (KIP-848)', () => {
    /** Calls of the listener that concern partitions. The broker may learn of a new topic after its members, which assigns none. */
    const told = ({ log }: Pick<GroupReader, 'log'>): string[] => log.events.filter((event) => event !== 'onAssigned ');

    it('removes what a task left there when its process died, and the other is notified when it wakes up', async () => {
      const topic = await newTopic(client, 2);
      const own = { 'client.id': `task-of-${topic}`, 'sluice.group.member.owner': 'workers' };
      const properties = { ...FROM_BEGINNING, ...BY_BROKER, ...own, 'group.id': topic };
      const before = client.consumer(properties);
      const log = rebalanceLog();
      before.subscribe([topic], log);
      await until(
        async () => (await before.poll(50)).length === 0 && before.assignment().length === 2,
        'it has joined',
      );
      const after = client.consumer(properties);
      after.subscribe([topic], rebalanceLog());
      await until(
        async () => (await after.poll(50)).length === 0 && after.assignment().length === 2,
        'it has all at once',
      );
      await assert.rejects(before.commit([{ topic, partition: 0, offset: 1 }]), CommitRefusedError);
      await until(
        async () => (await before.poll(50)).length === 0 && told({ log }).length > 1,
        'its listener is called',
      );
      assert.deepEqual(told({ log }).slice(0, 2), ['onAssigned 0,1', 'onLost 0,1']);
      await Promise.all([before.close(5000), after.close(5000)]);
    });

    it('continues to read the partitions it keeps while others join', async () => {
      const topic = await newTopic(client, 4);
      const first = new GroupReader(client, topic, topic, BY_BROKER);
      await until(() => first.owned().length === 4, 'the first has all');
      const second = new GroupReader(client, topic, topic, BY_BROKER);
      await until(() => first.owned().length === 2 && second.owned().length === 2, 'both have two');
      const [kept, gone] = [first.owned(), second.owned()].map((each) => [...each].sort().join(','));
      assert.deepEqual(told(first), ['onAssigned 0,1,2,3', `onRevoked ${String(gone)}`]);
      await second.close();
      await until(() => first.owned().length === 4, 'the first has all again');
      assert.deepEqual(told(first).slice(2), [`onAssigned ${String(gone)}`]);
      assert.notEqual(kept, gone);
      await first.close();
    });

    it('lets others have partitions that were assigned to a member and taken back between two polls of it', async () => {
      const topic = await newTopic(client, 4);
      const { lines, logger } = recordingLogger();
      const { bootstrapServers } = await broker();
      const properties = { ...FROM_BEGINNING, ...BY_BROKER, 'group.id': topic };
      const busy = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, logger).consumer(properties);
      busy.subscribe([topic], rebalanceLog());
      const assigned = (): number => {
        const line = lines.findLast(({ msg }) => msg === 'Received a target assignment');
        return Object.values((line?.partitions ?? {}) as Record<string, readonly number[]>).flat().length;
      };
      const second = new GroupReader(client, topic, topic, BY_BROKER);
      await until(async () => {
        await busy.poll(50);
        return busy.assignment().length === 2 && second.owned().length === 2;
      }, 'both have two');
      // All heartbeats while it does not poll.
      await second.close();
      await until(() => assigned() === 4, 'the first is to have all');
      const third = new GroupReader(client, topic, topic, BY_BROKER);
      await until(() => assigned() === 2, 'the first is to have two again');
      await until(async () => {
        await busy.poll(50);
        return busy.assignment().length === 2 && third.owned().length === 2;
      }, 'the third has two');
      await Promise.all([busy.close(5000), third.close()]);
    });

    it('keeps the place of a static member that is restarted, and refuses a second one of its id', async () => {
      const topic = await newTopic(client, 2);
      const member = (id: string): GroupReader =>
        new GroupReader(client, topic, topic, {
          ...BY_BROKER,
          'group.instance.id': id,
          'group.remote.assignor': 'range',
        });
      const [first, second] = [member('one'), member('two')];
      await until(() => first.owned().length === 1 && second.owned().length === 1, 'both have one');
      const [before] = first.owned();
      const told = [...second.log.events];
      await first.close();
      const again = member('one');
      await until(() => again.owned().length === 1, 'it has returned');
      assert.deepEqual([again.owned(), second.log.events], [[before], told]);
      const thief = member('two');
      await assert.rejects(until(() => thief.owned().length > 0, 'it has the place', { timeoutMs: 1000 }));
      await assert.rejects(thief.close(), /UNRELEASED_INSTANCE_ID/);
      await Promise.all([thief.consumer.close(5000), again.close(), second.close()]);
    });

    it('reports lost partitions and refuses commits when the group continued without it', async () => {
      const topic = await newTopic(client, 2);
      const impatient = { ...FROM_BEGINNING, ...BY_BROKER, 'group.id': topic, 'max.poll.interval.ms': '500' };
      const slow = client.consumer(impatient);
      const slowLog = rebalanceLog();
      slow.subscribe([topic], slowLog);
      await until(async () => (await slow.poll(50)).length === 0 && slow.assignment().length === 2, 'it has joined');
      const other = client.consumer(impatient);
      other.subscribe([topic], rebalanceLog());
      await until(async () => (await other.poll(50)).length === 0 && other.assignment().length === 2, 'it took over');
      await assert.rejects(slow.commit([{ topic, partition: 0, offset: 1 }]), CommitRefusedError);
      await slow.poll(100);
      assert.deepEqual(told({ log: slowLog }).slice(0, 2), ['onAssigned 0,1', 'onLost 0,1']);
      await Promise.all([slow.close(5000), other.close(5000)]);
    });

    for (const [pattern, who] of [
      ['\\.[ab]', 'the broker'],
      ['\\.(?=a|b).', 'the member itself'],
    ] as const) {
      it(`takes topics by a regular expression that ${who} evaluates`, async () => {
        const prefix = uniqueName('kafka-regex');
        const expression = `${prefix}${pattern}`;
        const whole = new RegExp(`^(?:${expression})$`);
        const consumer = client.consumer({
          ...FROM_BEGINNING,
          ...BY_BROKER,
          'group.id': prefix,
          'metadata.max.age.ms': '200',
        });
        const admin = client.admin();
        for (const name of ['a', 'b', 'c']) {
          await admin.createTopic({ name: `${prefix}.${name}`, partitions: 1, replicationFactor: 1, settings: {} });
          await produceNumbers(client, `${prefix}.${name}`, { count: 1 });
        }
        const selection = Object.assign((topic: string) => whole.test(topic), { pattern: expression });
        consumer.subscribe(selection, rebalanceLog());
        const records = await pollUntil(consumer, (got) => got.length >= 2);
        assert.deepEqual(records.map(({ topic }) => topic).sort(), [`${prefix}.a`, `${prefix}.b`]);
        await Promise.all([admin.close(), consumer.close(5000)]);
      });
    }
  });
});
