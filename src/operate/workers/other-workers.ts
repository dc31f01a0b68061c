import { RequestError } from '../../errors.ts';
import type { PeerClient } from '../../herder/peer-client.ts';
import type { Context } from '../../rest/resource.ts';
import type { WorkerUrls } from './worker-urls.ts';

/** If another worker does not answer within this time, the result is incomplete. */
const PEER_MS = 3000;
const LEADER_MS = 1500;
const MAX_PEER_BYTES = 33_554_432;

/** Another worker has answered, but not as a Sluice worker does. */
export class NotUnderstoodError extends Error {}

/** `body` is sent as JSON. */
type SendToWorker = (worker: string, method: 'GET' | 'PUT', path: string, body?: unknown) => Promise<unknown>;

/** The credentials of the client, and the address at which it has reached this worker. */
export interface Asker {
  readonly authorization: string;
  readonly ownUrl: string;
}

export function askerOf(context: Context): Asker {
  return { authorization: context.get('authorization'), ownUrl: String(context.state['ownUrl']) };
}

/**
 * Sends requests to other workers. The credentials of the client are sent only to addresses that the group has
 * reported.
 */
export class OtherWorkers {
  readonly #peers: PeerClient;
  readonly #urls: WorkerUrls;

  constructor(peers: PeerClient, urls: WorkerUrls) {
    this.#peers = peers;
    this.#urls = urls;
  }

  /**
   * Returns a function that resolves with the JSON of an answer with status 200, and rejects otherwise. `ofGroup`: only
   * workers of the group get requests.
   */
  get(asker: Asker, ofGroup = false): (worker: string, path: string) => Promise<unknown> {
    const send = this.send(asker, ofGroup);
    return (worker, path) => send(worker, 'GET', path);
  }

  /** Like `get`, for a request that may change something. */
  send({ authorization, ownUrl }: Asker, ofGroup = false): SendToWorker {
    let urls: ReturnType<WorkerUrls['find']> | undefined;
    return async (worker, method, path, sent) => {
      urls ??= this.#urls.find(authorization, ownUrl, LEADER_MS);
      const { url, isOfGroup } = (await urls)(worker);
      if (ofGroup && !isOfGroup) throw new RequestError(404, `Worker ${worker} is not in the group`);
      const { status, body } = await this.#peers.request({
        method,
        url: url + path,
        headers: {
          ...(isOfGroup && authorization !== '' ? { authorization } : {}),
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: sent === undefined ? undefined : Buffer.from(JSON.stringify(sent)),
        timeoutMs: PEER_MS,
        maxBytes: MAX_PEER_BYTES,
      });
      if (status !== 200) throw new NotUnderstoodError(`worker ${worker} has answered ${String(status)}`);
      try {
        return JSON.parse(body.toString()) as unknown;
      } catch (error) {
        throw new NotUnderstoodError('the answer is not JSON', { cause: error });
      }
    };
  }
}
