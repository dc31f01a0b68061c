import type { ConnectorConfig } from '../connect/api.ts';
import { RetriableError } from '../errors.ts';
import type { SessionKey } from './config-state.ts';
import type { PeerClient } from './peer-client.ts';
import type { Placement } from './placement.ts';
import { signatureOf } from './request-signature.ts';

export interface TaskPublisherParts {
  readonly placement: Placement;
  readonly peers: PeerClient;
  readonly sessionKey: () => SessionKey | undefined;
  /** `inter.worker.signature.algorithm` */
  readonly algorithm: string;
  /** For the leader itself: writes them to the config topic. */
  readonly write: (connector: string, configs: readonly ConnectorConfig[]) => Promise<void>;
}

const TIMEOUT_MS = 30_000;

/**
 * Brings the task configurations that a connector made into the config topic: the leader writes them, any other worker
 * asks the leader to (reference/kafka-connect.md 1.8).
 */
export class TaskPublisher {
  readonly #parts: TaskPublisherParts;

  constructor(parts: TaskPublisherParts) {
    this.#parts = parts;
  }

  /** Rejects when they were not written; the caller tries again. */
  async publish(connector: string, configs: readonly ConnectorConfig[]): Promise<void> {
    const { placement, write } = this.#parts;
    await placement.settled();
    if (placement.isLeader) await write(connector, configs);
    else await this.#askLeader(connector, configs);
  }

  async #askLeader(connector: string, configs: readonly ConnectorConfig[]): Promise<void> {
    const { placement, peers, sessionKey, algorithm } = this.#parts;
    const { leaderUrl } = placement;
    if (leaderUrl === undefined || leaderUrl === '') {
      throw new RetriableError('The worker group has no leader whose REST API is known');
    }
    const key = sessionKey();
    if (key === undefined) throw new RetriableError('There is no session key to sign requests to the leader with yet');
    const body = Buffer.from(JSON.stringify(configs));
    const { status, body: answer } = await peers.request({
      method: 'POST',
      url: `${leaderUrl.replace(/\/$/, '')}/connectors/${encodeURIComponent(connector)}/tasks`,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'kafka-connect',
        'X-Connect-Request-Signature-Algorithm': algorithm,
        'X-Connect-Authorization': signatureOf(body, algorithm, key),
      },
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (status < 200 || status >= 300) {
      const said = answer.toString().slice(0, 500);
      throw new RetriableError(
        `The leader at ${leaderUrl} did not take the task configurations: ${String(status)} ${said}`,
      );
    }
  }
}
