import { RequestError } from '../../errors.ts';
import { NotOwnerError } from '../../herder/not-owner-error.ts';
import type { Herder } from '../../herder/herder.ts';
import type { PeerClient } from '../../herder/peer-client.ts';
import type { WorkerDrains } from '../drain/worker-drains.ts';

export interface WorkerAddress {
  /** The address without a trailing slash. */
  readonly url: string;
  /** Whether the group itself has reported the address. Credentials may only be sent to such addresses. */
  readonly isOfGroup: boolean;
}

const MAX_BYTES = 1_048_576;
/** Worker ids come from statuses, which may contain any text. Requests are only sent to a host and a port. */
const HOST_AND_PORT = /^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}$/i;

/**
 * The addresses of the other workers' REST APIs. The leader knows the addresses that the members have reported. Other
 * workers request them from the leader, once for each generation of the group. An address that is not known, for
 * example because the leader is unreachable, is derived from the worker id, which comes from a status.
 */
export class WorkerUrls {
  readonly #herder: Pick<Herder, 'cluster'>;
  readonly #peers: PeerClient;
  readonly #members: Pick<WorkerDrains, 'workers'> | undefined;
  #known = new Map<string, string>();
  #generation: number | undefined;

  /** `members`: the workers of the group, as its leader knows them; `undefined` on a standalone worker. */
  constructor(herder: Pick<Herder, 'cluster'>, peers: PeerClient, members: Pick<WorkerDrains, 'workers'> | undefined) {
    this.#herder = herder;
    this.#peers = peers;
    this.#members = members;
  }

  /**
   * Resolves within `timeoutMs`, and never rejects. The resulting function maps a worker id to its address; it throws a
   * RequestError 404 for an invalid id.
   */
  async find(authorization: string, ownUrl: string, timeoutMs: number): Promise<(worker: string) => WorkerAddress> {
    const leaderUrl = await this.#learn(authorization, timeoutMs);
    const { protocol } = new URL(leaderUrl ?? ownUrl);
    return (worker) => {
      const url = this.#known.get(worker.toLowerCase());
      if (url !== undefined) return { url, isOfGroup: true };
      if (!HOST_AND_PORT.test(worker)) throw new RequestError(404, `${worker} is not the id of a worker`);
      return { url: `${protocol}//${worker}`, isOfGroup: false };
    };
  }

  async #learn(authorization: string, timeoutMs: number): Promise<string | undefined> {
    const { generation } = this.#herder.cluster() ?? {};
    try {
      if (this.#members !== undefined) this.#set(this.#members.workers());
      return undefined;
    } catch (error) {
      const leaderUrl = error instanceof NotOwnerError && error.url !== '' ? error.url : undefined;
      if (leaderUrl === undefined || generation === this.#generation) return leaderUrl;
      try {
        const { status, body } = await this.#peers.request({
          method: 'GET',
          url: `${leaderUrl.replace(/\/$/, '')}/cluster/workers?forward=false`,
          headers: authorization === '' ? {} : { authorization },
          timeoutMs,
          maxBytes: MAX_BYTES,
        });
        const workers: unknown = status === 200 ? JSON.parse(body.toString()) : undefined;
        if (Array.isArray(workers)) {
          this.#set(
            workers.map((each: { worker_id?: unknown; url?: unknown }) => ({
              workerId: String(each.worker_id),
              url: String(each.url),
            })),
          );
          this.#generation = generation;
        }
      } catch {
        // Addresses that are already known stay in use. All others are derived from the worker ids.
      }
      return leaderUrl;
    }
  }

  #set(workers: readonly { readonly workerId: string; readonly url: string }[]): void {
    const usable = workers.filter(({ url }) => URL.canParse(url));
    this.#known = new Map(usable.map(({ workerId, url }) => [workerId.toLowerCase(), url.replace(/\/$/, '')]));
  }
}
