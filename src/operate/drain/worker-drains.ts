import { RequestError, toError } from '../../errors.ts';
import type { SessionKey } from '../../herder/stores/config-state.ts';
import { NotOwnerError } from '../../herder/not-owner-error.ts';
import type { PeerClient } from '../../herder/peer-client.ts';
import type { DrainablePlacement, GroupWorker } from '../../herder/group/placement.ts';
import { signedHeaders } from '../../herder/request-signature.ts';
import type { GroupWorkerAnswer } from './cluster-answers.ts';
import type { DrainOrder } from './drain-body.ts';

export type DrainState = GroupWorkerAnswer['state'];

export interface DrainedWorker extends GroupWorker {
  /** `drained`: nothing runs on the worker any more; its work has moved to other workers. */
  readonly state: DrainState;
}

const TIMEOUT_MS = 10_000;

/**
 * Drains workers: a draining worker releases its connectors and tasks before it is stopped or replaced. The leader
 * decides whether a worker may drain, and notifies it. The worker reports the drain in its metadata each time it joins
 * the group, so that a new leader also knows about it.
 */
export class WorkerDrains {
  readonly #placement: Pick<DrainablePlacement, 'workers' | 'isLeaderForeign' | 'leaderUrl' | 'drain'>;
  readonly #peers: Pick<PeerClient, 'request'>;
  readonly #sessionKey: () => SessionKey | undefined;
  readonly #algorithm: string;
  readonly #workerId: string;
  /**
   * Used by the leader only: orders that do not appear in the metadata of the workers yet, by worker id; `true` is the
   * order to drain.
   */
  readonly #ordered = new Map<string, boolean>();

  /**
   * `algorithm`: `inter.worker.signature.algorithm`
   * `workerId`: the advertised `host:port` of this worker.
   */
  constructor(
    placement: Pick<DrainablePlacement, 'workers' | 'isLeaderForeign' | 'leaderUrl' | 'drain'>,
    peers: Pick<PeerClient, 'request'>,
    sessionKey: () => SessionKey | undefined,
    algorithm: string,
    workerId: string,
  ) {
    this.#placement = placement;
    this.#peers = peers;
    this.#sessionKey = sessionKey;
    this.#algorithm = algorithm;
    this.#workerId = workerId;
  }

  /**
   * The workers of the group. Throws a NotOwnerError unless this worker leads, and a RequestError 409 if the leader is
   * not a Sluice worker.
   */
  workers(): readonly DrainedWorker[] {
    const placement = this.#placement;
    if (placement.isLeaderForeign) {
      throw new RequestError(
        409,
        `The leader of the group, ${placement.leaderUrl ?? 'unknown'}, is not a Sluice worker and cannot drain workers. Stop the Java workers first, or stop this worker without draining it.`,
      );
    }
    const workers = placement.workers();
    if (workers === undefined) throw new NotOwnerError('Only the leader knows the workers.', placement.leaderUrl);
    for (const { workerId, draining } of workers) {
      if (this.#ordered.get(workerId) === draining) this.#ordered.delete(workerId);
    }
    const present = new Set(workers.map(({ workerId }) => workerId));
    for (const workerId of this.#ordered.keys()) if (!present.has(workerId)) this.#ordered.delete(workerId);
    return workers.map((worker) => {
      const draining = this.#ordered.get(worker.workerId) ?? worker.draining;
      const isDone = worker.draining && worker.connectors + worker.tasks === 0;
      return { ...worker, draining, state: !draining ? 'running' : isDone ? 'drained' : 'draining' };
    });
  }

  /**
   * Starts or ends the drain of a worker. Throws a NotOwnerError unless this worker leads, and a RequestError: 404 if
   * the worker is not in the group; 409 if no other worker takes work, or if the leader is not a Sluice worker; 500 or
   * 503 if the order cannot be sent to the worker.
   */
  async drain(workerId: string, drain: boolean): Promise<DrainedWorker> {
    const workers = this.workers();
    const worker = workers.find((each) => each.workerId.toLowerCase() === workerId.toLowerCase());
    if (worker === undefined) {
      const known = workers.map((each) => each.workerId).join(', ');
      throw new RequestError(404, `Worker ${workerId} is not in the group. Its workers are ${known}.`);
    }
    const others = workers.filter((each) => !each.draining && each.workerId !== worker.workerId);
    if (drain && others.length === 0) {
      throw new RequestError(
        409,
        `Worker ${worker.workerId} cannot be drained, because no other worker takes work. Start another worker first, or end the draining of one.`,
      );
    }
    const previous = this.#ordered.get(worker.workerId);
    this.#ordered.set(worker.workerId, drain);
    try {
      await this.#send(worker, { worker: worker.workerId, drain });
    } catch (error) {
      if (previous === undefined) this.#ordered.delete(worker.workerId);
      else this.#ordered.set(worker.workerId, previous);
      throw error;
    }
    return this.workers().find((each) => each.workerId === worker.workerId) ?? worker;
  }

  /**
   * Called when this worker has received an order of the leader. Throws a RequestError 409 if the order is for another
   * worker.
   */
  onOrder({ worker, drain }: DrainOrder): void {
    const placement = this.#placement;
    const workerId = this.#workerId;
    if (worker.toLowerCase() !== workerId.toLowerCase()) {
      throw new RequestError(409, `This is worker ${workerId}, not ${worker}.`);
    }
    placement.drain(drain);
  }

  async #send({ workerId, url }: GroupWorker, order: DrainOrder): Promise<void> {
    const peers = this.#peers;
    const sessionKey = this.#sessionKey;
    const algorithm = this.#algorithm;
    if (workerId.toLowerCase() === this.#workerId.toLowerCase()) {
      this.onOrder(order);
      return;
    }
    const key = sessionKey();
    if (key === undefined) {
      throw new RequestError(503, `There is no session key yet to sign the request to worker ${workerId} with.`);
    }
    const body = Buffer.from(JSON.stringify(order));
    const headers = signedHeaders(body, algorithm, key);
    const request = { method: 'PUT', url: `${url}cluster/drain`, headers, body, timeoutMs: TIMEOUT_MS };
    const answer = await peers.request(request).catch((error: unknown) => {
      throw new RequestError(500, `Worker ${workerId} cannot be reached: ${toError(error).message}`, { cause: error });
    });
    if (answer.status === 204) return;
    const said = answer.body.toString().slice(0, 500);
    throw new RequestError(
      500,
      `Worker ${workerId} answered ${String(answer.status)} to the request to drain: ${said}`,
    );
  }
}
