import type { ConnectorConfig } from '../connect/api.ts';
import { RetriableError } from '../errors.ts';
import type { SessionKey } from './stores/config-state.ts';
import type { PeerClient } from './peer-client.ts';
import type { Placement } from './group/placement.ts';
import { signedHeaders } from './request-signature.ts';

const TIMEOUT_MS = 30_000;

/** What a worker asks of the leader of its cluster. All reject when it was not done; the caller tries again. */
export interface Leader {
  /** `write` brings the task configurations that a connector made into the config topic. */
  publish(connector: string, configs: readonly ConnectorConfig[], write: () => Promise<void>): Promise<void>;
  /** `fence` keeps tasks of the connector's earlier generations from writing. */
  fence(connector: string, fence: () => Promise<void>): Promise<void>;
}

/** Requests to the leader, signed. The leader itself does at once what is asked. */
export class LeaderRequests implements Leader {
  readonly #placement: Placement;
  readonly #peers: PeerClient;
  readonly #sessionKey: () => SessionKey | undefined;
  readonly #algorithm: string;

  /** `algorithm`: `inter.worker.signature.algorithm` */
  constructor(placement: Placement, peers: PeerClient, sessionKey: () => SessionKey | undefined, algorithm: string) {
    this.#placement = placement;
    this.#peers = peers;
    this.#sessionKey = sessionKey;
    this.#algorithm = algorithm;
  }

  async publish(connector: string, configs: readonly ConnectorConfig[], write: () => Promise<void>): Promise<void> {
    if (await this.#isLeader()) await write();
    else await this.#ask('POST', connector, 'tasks', Buffer.from(JSON.stringify(configs)));
  }

  async fence(connector: string, fence: () => Promise<void>): Promise<void> {
    if (await this.#isLeader()) await fence();
    else await this.#ask('PUT', connector, 'fence', Buffer.alloc(0));
  }

  async #isLeader(): Promise<boolean> {
    await this.#placement.settled();
    return this.#placement.isLeader;
  }

  async #ask(method: string, connector: string, what: string, body: Buffer): Promise<void> {
    const { leaderUrl = '' } = this.#placement;
    if (leaderUrl === '') throw new RetriableError('The worker group has no leader whose REST API is known');
    const key = this.#sessionKey();
    if (key === undefined) throw new RetriableError('There is no session key to sign requests to the leader with yet');
    const path = `/connectors/${encodeURIComponent(connector)}/${what}`;
    const { status, body: answer } = await this.#peers.request({
      method,
      url: `${leaderUrl.replace(/\/$/, '')}${path}`,
      headers: signedHeaders(body, this.#algorithm, key),
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (status < 200 || status >= 300) {
      const said = answer.toString().slice(0, 500);
      throw new RetriableError(`The leader at ${leaderUrl} refused ${method} ${path}: ${String(status)} ${said}`);
    }
  }
}
