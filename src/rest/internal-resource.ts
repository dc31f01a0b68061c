import type { Herder } from '../herder/herder.ts';
import { RequestError } from '../errors.ts';
import type { SessionKey } from '../herder/stores/config-state.ts';
import { signatureCheck } from '../herder/request-signature.ts';
import { BodyBudget } from './body-budget.ts';
import { MAX_BODY_BYTES, parseTaskConfigs, readBytes, TASK_CONFIGS_BODY } from './request-body.ts';
import { answerEmpty, pathName, withinTimeLimit, type Context, type Route } from './resource.ts';

/** Requests to fence and to drain have small bodies or none. */
export const SMALL_BODY_BYTES = 64 * 1024;
const STANDALONE = 'Kafka Connect in standalone mode does not support';

/** Reads the bodies of requests that another worker of the cluster has signed. */
export class SignedBodies {
  readonly #keys: { readonly sessionKey: SessionKey | undefined };
  readonly #algorithms: readonly string[] | undefined;

  /** `algorithms`: `inter.worker.verification.algorithms`; `undefined` on a standalone worker. */
  constructor(keys: { readonly sessionKey: SessionKey | undefined }, algorithms: readonly string[] | undefined) {
    this.#keys = keys;
    this.#algorithms = algorithms;
  }

  /**
   * @throws RequestError 400 or 403: the signature is missing or invalid; 503: this worker has not read the session key
   * yet; 500: a standalone worker does not support `what`
   */
  async read(context: Context, what: string, maxBytes = MAX_BODY_BYTES): Promise<string> {
    if (this.#algorithms === undefined) throw new RequestError(500, `${STANDALONE} ${what}.`);
    const headers = {
      algorithm: context.get('X-Connect-Request-Signature-Algorithm') || undefined,
      signature: context.get('X-Connect-Authorization') || undefined,
    };
    const requireSignature = signatureCheck(headers, this.#algorithms, this.#keys.sessionKey);
    const body = await readBytes(context.req, maxBytes);
    requireSignature(body);
    BodyBudget.of(context.req)?.trust(context.req);
    return body.toString();
  }
}

/** Signed requests between the workers of a cluster (org.apache.kafka.connect.runtime.rest.resources.InternalClusterResource). */
export function internalResource(herder: Herder, signed: SignedBodies): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/connectors/:connector/tasks',
      summary: 'New task configurations, from another worker',
      tag: 'between workers',
      body: TASK_CONFIGS_BODY,
      answers: { 204: null },
      handle: async (context) => {
        const configs = parseTaskConfigs(await signed.read(context, 'externally setting task configurations'));
        await withinTimeLimit(herder.stage, herder.requests.putTaskConfigs(pathName(context, 'connector'), configs));
        answerEmpty(context, 204);
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/fence',
      summary: 'Fence the producers of earlier tasks, for another worker',
      tag: 'between workers',
      answers: { 204: null },
      handle: async (context) => {
        await signed.read(context, 'exactly-once source connectors', SMALL_BODY_BYTES);
        await withinTimeLimit(herder.stage, herder.requests.fenceZombies(pathName(context, 'connector')));
        answerEmpty(context, 204);
      },
    },
  ];
}
