import type { Work } from '../../src/herder/group/group-bytes.ts';
import type { WorkerGroupSettings } from '../../src/herder/group/worker-group-settings.ts';
import { WorkerGroup } from '../../src/herder/group/worker-group.ts';
import { openKafkaGroup } from '../../src/herder/group/worker-membership.ts';
import type { CountedWork } from '../../src/herder/group/known-connectors.ts';
import { WorkSet } from '../../src/herder/group/work-set.ts';
import { NO_HANDOVERS, type Handovers } from '../../src/herder/group/handovers.ts';
import { mayWork, type WorkListener } from '../../src/herder/group/placement.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { recordingLogger } from './kafka-fixture.ts';

export type MemberSettings = Omit<WorkerGroupSettings, 'url'>;

/** The config topic that all members of a group read, and a record of which member runs what. */
class Scene {
  readonly running = new Map<string, string>();
  readonly twice: string[] = [];
  readonly tasks = new Map<string, number>();
  offset = 1;

  configure(connectors: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(connectors)) this.tasks.set(name, count);
    this.offset += 1;
  }

  work(): Work {
    const connectors = [...this.tasks.keys()];
    const tasks = connectors.flatMap((connector) =>
      Array.from({ length: this.tasks.get(connector) ?? 0 }, (_, task) => ({ connector, task })),
    );
    return { connectors, tasks };
  }

  get size(): number {
    const { connectors, tasks } = this.work();
    return connectors.length + tasks.length;
  }
}

/** One worker without connectors: it only notes what it would run. */
class Member implements WorkListener {
  readonly name: string;
  readonly group: WorkerGroup;
  readonly log: readonly { readonly msg: string }[];
  /** How far it has read; `undefined`: as far as there is. */
  readTo: number | undefined;
  /** Called once, when the group next asks how far this worker has read, or what there is to divide. */
  onOffset: (() => void) | undefined;
  onWork: (() => void) | undefined;
  /** Whether work could write while it was stopped, each time that some was. */
  readonly mightWrite: boolean[] = [];
  readonly #scene: Scene;

  constructor(scene: Scene, name: string, bootstrap: string, settings: MemberSettings) {
    this.#scene = scene;
    this.name = name;
    const { logger, lines } = recordingLogger();
    this.log = lines;
    const offset = () => {
      const called = this.onOffset;
      this.onOffset = undefined;
      called?.();
      return this.readTo ?? scene.offset;
    };
    const work = () => {
      const called = this.onWork;
      this.onWork = undefined;
      called?.();
      return scene.work();
    };
    const configured: CountedWork = {
      get offset() {
        return offset();
      },
      refresh: () => (this.readTo === undefined ? Promise.resolve() : new Promise(() => undefined)),
      work,
      taskCount: (connector) => scene.tasks.get(connector),
    };
    const own = { ...settings, url: `http://${name}:8083/` };
    const group = openKafkaGroup({ 'bootstrap.servers': bootstrap }, '', own, logger);
    this.group = new WorkerGroup(group, own, configured, logger);
  }

  get count(): number {
    return [...this.#scene.running.values()].filter((owner) => owner === this.name).length;
  }

  assigned(work: Work): Promise<void> {
    for (const each of texts(work)) {
      if (this.#scene.running.has(each)) this.#scene.twice.push(each);
      this.#scene.running.set(each, this.name);
    }
    return Promise.resolve();
  }

  revoked(work: Work): Promise<Handovers> {
    this.mightWrite.push(mayWork(this.group));
    for (const each of texts(work)) this.#scene.running.delete(each);
    return Promise.resolve(NO_HANDOVERS);
  }
}

/** Workers of one group on the shared broker, for one test; `stop` in an afterEach hook. */
export class TestWorkers {
  readonly scene = new Scene();
  readonly members: Member[] = [];
  readonly settings: MemberSettings;
  /** The broker that new members connect to. */
  bootstrap: string;

  private constructor(groupId: string, bootstrap: string) {
    this.bootstrap = bootstrap;
    this.scene.configure({ a: 3, b: 2, c: 1 });
    this.settings = {
      groupId,
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 10_000,
      heartbeatIntervalMs: 100,
      protocol: 'sessioned',
      mixed: 'refuse',
      maxDelayMs: 0,
      syncTimeoutMs: 300,
      unsyncBackoffMs: 200,
    };
  }

  /** `name`: what the group is called by. */
  static async create(name = 'workers'): Promise<TestWorkers> {
    return new TestWorkers(uniqueName(name), (await broker()).bootstrapServers);
  }

  member(name: string, more: Partial<MemberSettings> = {}): Member {
    const created = new Member(this.scene, name, this.bootstrap, { ...this.settings, ...more });
    this.members.push(created);
    return created;
  }

  /** A member that has joined the group. */
  async enter(name: string, more: Partial<MemberSettings> = {}): Promise<Member> {
    const entered = this.member(name, more);
    await entered.group.start(entered);
    return entered;
  }

  /** How many connectors and tasks each member runs, the smallest share first. */
  shares(): number[] {
    return this.members.map(({ count }) => count).sort();
  }

  async untilShared(expected: readonly number[], what = `shares ${expected.join()}`): Promise<void> {
    const isShared = () => this.scene.running.size === this.scene.size && this.shares().join() === expected.join();
    await until(isShared, what, { everyMs: 10 });
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.splice(0).map(({ group }) => group.stop()));
  }
}

export function texts(work: Work): string[] {
  const { connectors, tasks } = WorkSet.of(work);
  return [...connectors, ...tasks];
}
