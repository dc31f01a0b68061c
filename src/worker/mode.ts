import type { TaskClients } from '../connect/tasks/task-clients.ts';
import type { RequestAnswers } from '../herder/connector-requests.ts';
import type { InternalTopics } from '../herder/internal-topics.ts';
import type { Leader } from '../herder/leader-requests.ts';
import type { Placement } from '../herder/group/placement.ts';
import type { SessionKeySettings } from '../herder/session-keys.ts';
import type { ExactlyOnce } from '../herder/exactly-once-sources.ts';
import type { HerderStores } from '../herder/stores/herder-stores.ts';
import type { OpenRecordLog } from '../herder/stores/record-log.ts';
import type { WorkerDrains } from '../operate/drain/worker-drains.ts';

/** The address at which other workers and clients reach this worker. */
export interface OwnAddress {
  /** URL of the management API, without a trailing slash. */
  readonly url: string;
  /** `host:port`, which is also the id of the worker in statuses. */
  readonly advertised: string;
}

/** The differences between a distributed and a standalone worker. The herder does not depend on the mode otherwise. */
export interface Mode {
  readonly stores: HerderStores;
  readonly placement: Placement;
  readonly leader: Leader;
  /** `undefined` for a standalone worker. */
  readonly drains: WorkerDrains | undefined;
  /** `undefined` for a standalone worker. */
  readonly internalTopics: InternalTopics | undefined;
  /**
   * The identity, in several parts, of the workers that share tasks, such as group id and config topic. It is equal on all of
   * these workers, and no other workers have it. See `taskOwner` in tasks.ts.
   */
  readonly workers: readonly string[];
  /** `group.id` */
  readonly groupId: string | undefined;
  /** The topic of `stores.offsets`. */
  readonly offsetsTopic: string | undefined;
  /** Opens the topic that a connector names in `offsets.storage.topic`. */
  readonly openOffsetsTopic: (connector: string, topic: string) => OpenRecordLog;
  /** Returns `undefined` unless `exactly.once.source.support` is `enabled`. */
  readonly exactlyOnce: (clients: TaskClients) => ExactlyOnce | undefined;
  /** Settings of the key with which workers of the cluster sign their requests. */
  readonly sessionKeys: SessionKeySettings | undefined;
  /** `inter.worker.verification.algorithms` */
  readonly signatureAlgorithms: readonly string[] | undefined;
  readonly answers: RequestAnswers;
  /** Name under which users set the log level of the herder. */
  readonly herderLogger: string;
}
