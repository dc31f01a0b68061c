import { randomBytes } from 'node:crypto';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { LocalKafka } from '../../src/dev/kafka.ts';
import { freePort } from '../../src/dev/ports.ts';
import { until } from './until.ts';

export interface ClusterTopic {
  readonly partitions?: number;
  /** Replaces `partitions`: for each partition the ids of its brokers, with the preferred leader first. */
  readonly replicas?: readonly (readonly number[])[];
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PartitionState {
  readonly partition: number;
  /** -1 if the partition has no leader. */
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
}

export const BROKER_IDS = [1, 2, 3] as const;

const REPLICATED = {
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  // Several partitions, so that the coordinators of groups and transactional ids are not all on one broker.
  'offsets.topic.num.partitions': '6',
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.num.partitions': '6',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
  // For groups whose members get their partitions from the broker (KIP-848): by default, the broker waits 45 s for
  // killed members.
  'group.consumer.min.session.timeout.ms': '6000',
  'group.consumer.session.timeout.ms': '6000',
  'group.consumer.min.heartbeat.interval.ms': '500',
  'group.consumer.heartbeat.interval.ms': '1000',
  // Consumers that configure their rack read from the replica in this rack.
  'replica.selector.class': 'org.apache.kafka.common.replica.RackAwareReplicaSelector',
};
/** Returns the rack of a broker; each broker has its own. */
export function rackOf(id: number): string {
  return `rack-${String(id)}`;
}

const JVM = ['-Xmx384m', '-XX:TieredStopAtLevel=1'];
const REQUEST_MS = 3000;
const CHANGE_MS = 60_000;

/**
 * Three brokers that are also controllers (replication factor 3, min.insync.replicas 2), so any one of them may fail.
 * Each broker keeps its ports and data when it is restarted. The ids of the brokers are 1 to 3.
 */
export class BrokerCluster {
  readonly bootstrapServers: string;
  readonly #brokers: ReadonlyMap<number, LocalKafka>;
  readonly #frozen = new Set<number>();

  private constructor(brokers: ReadonlyMap<number, LocalKafka>) {
    this.#brokers = brokers;
    this.bootstrapServers = [...brokers.values()].map((broker) => broker.bootstrapServers).join(',');
  }

  /** Resolves when all three brokers are available. */
  static async start(onProgress?: (message: string) => void): Promise<BrokerCluster> {
    const clusterId = `C${randomBytes(16).toString('base64url').slice(1)}`;
    const places = await Promise.all(
      BROKER_IDS.map(async (id) => ({ id, port: await freePort(), controllerPort: await freePort() })),
    );
    const voters = places.map(({ id, controllerPort }) => `${String(id)}@127.0.0.1:${String(controllerPort)}`);
    const starts = places.map(({ id, port, controllerPort }) =>
      LocalKafka.start({
        port,
        ...(onProgress && { onProgress }),
        extras: {
          jvmArguments: JVM,
          formatArguments: ['--cluster-id', clusterId],
          properties: {
            ...REPLICATED,
            'node.id': String(id),
            'broker.rack': rackOf(id),
            'controller.quorum.voters': voters.join(','),
            listeners: `PLAINTEXT://127.0.0.1:${String(port)},CONTROLLER://127.0.0.1:${String(controllerPort)}`,
          },
        },
      }),
    );
    const outcomes = await Promise.allSettled(starts);
    const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    try {
      await Promise.all(starts);
      const cluster = new BrokerCluster(new Map(started.map((broker, index) => [BROKER_IDS[index] ?? 0, broker])));
      await cluster.#untilThere(BROKER_IDS);
      return cluster;
    } catch (error) {
      await Promise.all(started.map((broker) => broker.discard()));
      throw error;
    }
  }

  /** Sends SIGKILL, also to a frozen broker. */
  async kill(id: number): Promise<void> {
    this.#frozen.delete(id);
    await this.#broker(id).kill();
  }

  /** Shuts the broker down in order: its leaders move to other brokers first. */
  async stop(id: number): Promise<void> {
    this.thaw(id);
    await this.#broker(id).stop();
  }

  /** Resolves when the broker is a member of the cluster again. */
  async start(id: number): Promise<void> {
    await this.#broker(id).start();
    await this.#untilThere([id]);
  }

  /** Sends SIGSTOP: the connections of the broker stay open, but it does not respond. */
  freeze(id: number): void {
    this.#signal(id, 'SIGSTOP');
    this.#frozen.add(id);
  }

  thaw(id: number): void {
    if (this.#frozen.delete(id)) this.#signal(id, 'SIGCONT');
  }

  /** Starts stopped brokers and resumes frozen ones. Resolves when all three brokers are available. */
  async mend(): Promise<void> {
    for (const id of BROKER_IDS) this.thaw(id);
    await Promise.all([...this.#brokers.values()].map((broker) => broker.start()));
    await this.#untilThere(BROKER_IDS);
  }

  /** Resolves when all partitions of the topic have leaders. */
  async createTopic(name: string, { partitions = 1, replicas, settings = {} }: ClusterTopic = {}): Promise<void> {
    const configEntries = Object.entries(settings).map(([key, value]) => ({ name: key, value }));
    const replicaAssignment = replicas?.map((each, partition) => ({ partition, replicas: [...each] }));
    const shape = replicaAssignment === undefined ? { numPartitions: partitions } : { replicaAssignment };
    const isNew = await this.#ask((admin) =>
      admin.createTopics({ topics: [{ topic: name, ...shape, configEntries }], waitForLeaders: false }),
    );
    if (!isNew) throw new Error(`Topic ${name} exists`);
    const count = replicas?.length ?? partitions;
    await until(
      async () => {
        const known = await this.partitionsOf(name);
        return known.length === count && known.every(({ leader }) => leader >= 0);
      },
      `${name} has leaders`,
      { timeoutMs: CHANGE_MS },
    );
  }

  /** Returns the state of the partitions in order, as reported by a broker that responds. */
  async partitionsOf(topic: string): Promise<readonly PartitionState[]> {
    const { topics } = await this.#ask((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    const found = topics.find(({ name }) => name === topic)?.partitions ?? [];
    return found
      .map(({ partitionId, leader, replicas, isr }) => ({ partition: partitionId, leader, replicas, inSync: isr }))
      .sort((one, other) => one.partition - other.partition);
  }

  /** Returns the leader of the partition, and waits if there is none. */
  async leaderOf(topic: string, partition = 0): Promise<number> {
    return until(
      async () => {
        const leader = (await this.partitionsOf(topic))[partition]?.leader ?? -1;
        return leader < 0 || !this.#answers(leader) ? undefined : leader;
      },
      `${topic}-${String(partition)} has a leader`,
    );
  }

  /** Returns the coordinator of an existing group. */
  coordinatorOf(group: string): Promise<number> {
    return this.#coordinatorIn('__consumer_offsets', group);
  }

  /** Returns the coordinator of a transactional id that has already been used. */
  transactionCoordinatorOf(transactionalId: string): Promise<number> {
    return this.#coordinatorIn('__transaction_state', transactionalId);
  }

  /** Resolves when every partition of these topics has all of its replicas in sync. */
  async untilInSync(topics: readonly string[]): Promise<void> {
    const inSync = async (topic: string): Promise<boolean> => {
      const partitions = await this.partitionsOf(topic);
      return partitions.every(({ leader, replicas, inSync: now }) => leader >= 0 && now.length === replicas.length);
    };
    await until(
      async () => (await Promise.all(topics.map(inSync))).every((each) => each),
      `${topics.join(', ')} are in sync`,
      { timeoutMs: CHANGE_MS, everyMs: 200 },
    );
  }

  /** Kills the brokers and deletes their data. */
  async discard(): Promise<void> {
    await Promise.all([...this.#brokers.values()].map((broker) => broker.discard()));
  }

  async #untilThere(wanted: readonly number[]): Promise<void> {
    const there = async (): Promise<boolean> => {
      const { brokers } = await this.#ask((admin) => admin.describeCluster());
      return wanted.every((id) => brokers.some(({ nodeId }) => nodeId === id));
    };
    await until(there, `brokers ${wanted.join(', ')} are part of the cluster`, { timeoutMs: CHANGE_MS });
  }

  /** The hash of the name of a group or transactional id determines the partition in which its state is stored. */
  async #coordinatorIn(topic: string, id: string): Promise<number> {
    const partitions = (await this.partitionsOf(topic)).length;
    let hash = 0;
    for (let index = 0; index < id.length; index++) hash = (Math.imul(31, hash) + id.charCodeAt(index)) | 0;
    return this.leaderOf(topic, (hash & 0x7fffffff) % partitions);
  }

  async #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    const brokers = [...this.#brokers].filter(([id]) => this.#answers(id)).map(([, each]) => each.bootstrapServers);
    const kafka = new Kafka({
      brokers,
      requestTimeout: REQUEST_MS,
      connectionTimeout: REQUEST_MS,
      logLevel: logLevel.NOTHING,
    });
    const admin = kafka.admin();
    await admin.connect();
    try {
      return await question(admin);
    } finally {
      await admin.disconnect();
    }
  }

  #answers(id: number): boolean {
    return this.#broker(id).running && !this.#frozen.has(id);
  }

  #signal(id: number, signal: NodeJS.Signals): void {
    const { pid } = this.#broker(id);
    if (pid === undefined) throw new Error(`Broker ${String(id)} is not running`);
    process.kill(pid, signal);
  }

  #broker(id: number): LocalKafka {
    const broker = this.#brokers.get(id);
    if (broker === undefined) throw new Error(`There is no broker ${String(id)}`);
    return broker;
  }
}
