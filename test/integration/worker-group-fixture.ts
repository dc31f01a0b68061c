import type { Work } from '../../src/herder/group/group-bytes.ts';
import type { WorkerGroupSettings } from '../../src/herder/group/worker-group-settings.ts';
import { WorkerGroup } from '../../src/herder/group/worker-group.ts';
import { WorkSet } from '../../src/herder/group/work-set.ts';
import { NO_HANDOVERS, type Handovers } from '../../src/herder/group/handovers.ts';
import { mayWork, type WorkListener } from '../../src/herder/placement.ts';
import { recordingLogger } from './kafka-fixture.ts';

/** What all members of a group read from their config topic, and who runs what. */
export class Scene {
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
export class Member implements WorkListener {
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

  constructor(scene: Scene, name: string, bootstrap: string, settings: WorkerGroupSettings) {
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
    this.group = new WorkerGroup({
      settings,
      client: { 'bootstrap.servers': bootstrap },
      clientId: '',
      url: `http://${name}:8083/`,
      configured: {
        get offset() {
          return offset();
        },
        refresh: () => (this.readTo === undefined ? Promise.resolve() : new Promise(() => undefined)),
        work,
        taskCount: (connector) => scene.tasks.get(connector),
      },
      logger,
    });
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

export function texts(work: Work): string[] {
  const { connectors, tasks } = WorkSet.of(work);
  return [...connectors, ...tasks];
}
