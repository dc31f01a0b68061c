import type {
  ClientProperties,
  ConsumedRecord,
  Consumer,
  Handover,
  KafkaClient,
  PartitionPosition,
  RebalanceListener,
} from '../../../src/kafka/api.ts';
import { toError } from '../../../src/errors.ts';
import { MEMBER_OWNER } from '../../../src/kafka/config/consumer-config.ts';
import { CommitRefusedError } from '../../../src/kafka/errors/kafka-errors.ts';
import type { JavaPeer } from '../../support/java-peer.ts';
import { uniqueName } from '../../support/services.ts';
import type { Draw } from '../../support/random.ts';
import { Difference, lineOf, offsetOf, requireEqualLines, type ReadPartition } from './record-lines.ts';

const READ_MS = 60_000;
const STRATEGIES = 'org.apache.kafka.clients.consumer.';

interface GroupOptions {
  readonly client: KafkaClient;
  readonly peer: JavaPeer;
  readonly topic: string;
  readonly draw: Draw;
  readonly settings: ClientProperties;
}

interface JoinAnswer {
  readonly records: readonly { readonly partition: number; readonly line: string }[];
  readonly refused: boolean;
}

/**
 * Members of a group that join and leave, and commit what they have read. Together they must read every record once.
 */
export class GroupReading {
  readonly #options: GroupOptions;
  readonly #draw: Draw;
  readonly #group = uniqueName('differential-group');
  readonly #settings: ClientProperties;
  readonly #members: Consumer[] = [];
  readonly #owners = new Map<Consumer, string>();
  /** The lines of the records that were read, by partition and offset. */
  readonly #lines = new Map<number, Map<number, string>>();
  readonly #isCooperative: boolean;
  #records = 0;
  /**
   * A member that keeps its partitions during a join cannot commit between the two requests of the join, as in Java.
   */
  #mayRepeat = false;
  #joined: Promise<void> | undefined;
  #failure: unknown;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#draw = options.draw;
    const isClassic = this.#draw.chance(0.7);
    const strategy = this.#draw.pick(['RangeAssignor', 'StickyAssignor', 'CooperativeStickyAssignor']);
    this.#isCooperative = isClassic && strategy === 'CooperativeStickyAssignor';
    this.#settings = {
      ...options.settings,
      // Members are polled in turn, and a member without partitions waits when it is polled.
      'max.poll.records': '500',
      'group.id': this.#group,
      'enable.auto.commit': 'false',
      ...(isClassic
        ? {
            'heartbeat.interval.ms': '50',
            'partition.assignment.strategy': `${STRATEGIES}${strategy}`,
          }
        : { 'group.protocol': 'consumer' }),
    };
  }

  /** Resolves with the number of records that the group read. */
  async compare(java: readonly ReadPartition[]): Promise<number> {
    const expected = java.reduce((sum, { lines }) => sum + lines.length, 0);
    const deadline = Date.now() + READ_MS;
    let changesLeft = this.#draw.between(1, 4);
    this.#add();
    try {
      while (this.#records < expected || this.#joined !== undefined) {
        for (const member of this.#members) await this.#poll(member);
        if (changesLeft > 0 && this.#draw.chance(0.3)) {
          changesLeft -= 1;
          await this.#change();
        }
        if (this.#failure !== undefined) throw toError(this.#failure);
        if (Date.now() > deadline) {
          throw new Difference(`the group read ${String(this.#records)} of ${String(expected)} records`);
        }
      }
      for (const [partition, { lines }] of java.entries()) {
        const own = [...(this.#lines.get(partition) ?? [])].sort(([one], [other]) => one - other);
        requireEqualLines(
          partition,
          own.map(([, line]) => line),
          lines,
        );
      }
      return this.#records;
    } finally {
      for (const member of this.#members) await member.close(5_000);
    }
  }

  async #change(): Promise<void> {
    const { peer, topic } = this.#options;
    const action = this.#draw.pick(['add', 'add', 'leave', 'replace', 'java']);
    const [first] = this.#members;
    if (action === 'add' || first === undefined) {
      if (this.#members.length < 3) this.#add();
    } else if (action === 'leave') {
      this.#members.shift();
      await first.close(10_000);
      if (this.#members.length === 0) this.#add();
    } else if (action === 'replace') {
      this.#members.shift();
      const handover = await first.handOver(10_000);
      this.#add(this.#owners.get(first), handover);
    } else if (this.#joined === undefined) {
      const command = { topic, settings: this.#settings, records: this.#draw.pick([1, 50, 1_000]), ms: 700 };
      this.#joined = peer
        .command<JoinAnswer>('join', command)
        .then(({ records, refused }) => {
          this.#mayRepeat ||= refused && this.#isCooperative;
          for (const { partition, line } of records) this.#note(partition, line);
        })
        .catch((error: unknown) => {
          this.#failure = error;
        })
        .finally(() => (this.#joined = undefined));
    }
  }

  #add(owner = uniqueName('owner'), handover?: Handover): void {
    const member = this.#options.client.consumer({ ...this.#settings, [MEMBER_OWNER]: owner });
    member.subscribe([this.#options.topic], this.#listener(member), handover);
    this.#owners.set(member, owner);
    this.#members.push(member);
  }

  #listener(member: Consumer): RebalanceListener {
    return {
      onAssigned: () => Promise.resolve(),
      onLost: () => Promise.resolve(),
      onRevoked: async (partitions) => {
        const positions = partitions.flatMap((place) => {
          const offset = member.position(place);
          return offset === undefined ? [] : [{ ...place, offset }];
        });
        await this.#commit(member, positions);
      },
    };
  }

  async #poll(member: Consumer): Promise<void> {
    for (const record of await member.poll(20)) this.#take(record);
  }

  #take(record: ConsumedRecord): void {
    this.#note(record.partition, lineOf(record));
  }

  async #commit(member: Consumer, positions: readonly PartitionPosition[]): Promise<void> {
    try {
      await member.commit(positions);
    } catch (error) {
      if (!this.#isCooperative || !(error instanceof CommitRefusedError)) throw error;
      this.#mayRepeat = true;
    }
  }

  #note(partition: number, line: string): void {
    let lines = this.#lines.get(partition);
    if (lines === undefined) this.#lines.set(partition, (lines = new Map<number, string>()));
    const offset = offsetOf(line);
    const before = lines.get(offset);
    if (before === undefined) this.#records += 1;
    else if (before !== line || !this.#mayRepeat) {
      const settings = JSON.stringify(this.#settings);
      throw new Difference(
        `partition ${String(partition)}: "${before}" was read, then "${line}" by a group with ${settings}`,
      );
    }
    lines.set(offset, line);
  }
}
