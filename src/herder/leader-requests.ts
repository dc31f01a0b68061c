import type { ConnectorConfig } from '../connect/api.ts';
import { RetriableError } from '../errors.ts';
import type { SessionKey } from './stores/config-state.ts';
import type { PeerClient } from './peer-client.ts';
import type { Placement } from './group/placement.ts';
import { signedHeaders } from './request-signature.ts';

const TIMEOUT_MS = 30_000;

/** Requests of a worker to the leader of its cluster. The methods reject if the request fails. */
export interface Leader {
  /**
   * Publishes the task configurations of the connector. `write` writes them to the config topic; it is called if this worker is
   * the leader.
   */
  publish(connector: string, configs: readonly ConnectorConfig[], write: () => Promise<void>): Promise<void>;
  /** Fences the tasks of earlier generations of the connector. `fence` is called if this worker is the leader. */
  fence(connector: string, fence: () => Promise<void>): Promise<void>;
}

/** Sends signed requests to the leader. If this worker is the leader, the work is done locally. */
export class LeaderRequests implements Leader {
  readonly #placement: Placement;
  readonly #peers: PeerClient;
  readonly #sessionKey: () => SessionKey | undefined;
  readonly #algorithm: string;

  /** `algorithm` is `inter.worker.signature.algorithm`. */
  constructor(placement: Placement, peers: PeerClient, sessionKey: () => SessionKey | undefined, algorithm: string) {
    this.#placement = placement;
    this.#peers = peers;
    this.#sessionKey = sessionKey;
    this.#algorithm = algorithm;
  }

  async publish(connector: string, configs: readonly ConnectorConfig[], write: () => Promise<void>): Promise<void> {
    if (await this.#isLeader()) await write();
    else await this.#request('POST', connector, 'tasks', Buffer.from(JSON.stringify(configs)));
  }

  async fence(connector: string, fence: () => Promise<void>): Promise<void> {
    if (await this.#isLeader()) await fence();
    else await this.#request('PUT', connector, 'fence', Buffer.alloc(0));
  }

  async #isLeader(): Promise<boolean> {
    await this.#placement.settled();
    return this.#placement.isLeader;
  }

  async #request(method: string, connector: string, what: string, body: Buffer): Promise<void> {
    const { leaderUrl = '' } = this.#placement;
    if (leaderUrl === '') throw new RetriableError('The worker group has no leader whose REST API is known');
    const key = this.#sessionKey();
    if (key === undefined) throw new RetriableError('There is no session key yet to sign requests to the leader');
    const path = `/connectors/${encodeURIComponent(connector)}/${what}`;
    const { status, body: answer } = await this.#peers.request({
      method,
      url: `${leaderUrl.replace(/\/$/, '')}${path}`,
      headers: signedHeaders(body, this.#algorithm, key),
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (status < 200 || status >= 300) {
      const reason = answer.toString().slice(0, 500);
      throw new RetriableError(`The leader at ${leaderUrl} refused ${method} ${path}: ${String(status)} ${reason}`);
    }
  }
}
