import { RequestError } from '../errors.ts';
import { signatureCheck } from '../herder/request-signature.ts';
import { BodyBudget } from './body-budget.ts';
import { MAX_BODY_BYTES, parseTaskConfigs, readBytes } from './request-body.ts';
import { parseDrainOrder } from '../operate/drain/drain-body.ts';
import { answerEmpty, pathName, withinTimeLimit, type Context, type Resource } from './resource.ts';

/** Requests to fence and to drain have small bodies or none. */
const SMALL_BODY_BYTES = 64 * 1024;
const STANDALONE = 'Kafka Connect in standalone mode does not support';

/** Signed requests between the workers of a cluster (org.apache.kafka.connect.runtime.rest.resources.InternalClusterResource). */
export const internalResource: Resource = (router, { herder, signatureAlgorithms, drains }) => {
  const signedBody = async (context: Context, what: string, maxBytes = MAX_BODY_BYTES): Promise<string> => {
    if (signatureAlgorithms === undefined) throw new RequestError(500, `${STANDALONE} ${what}.`);
    const headers = {
      algorithm: context.get('X-Connect-Request-Signature-Algorithm') || undefined,
      signature: context.get('X-Connect-Authorization') || undefined,
    };
    const requireSignature = signatureCheck(headers, signatureAlgorithms, herder.sessionKey);
    const body = await readBytes(context.req, maxBytes);
    requireSignature(body);
    BodyBudget.of(context.req)?.trust(context.req);
    return body.toString();
  };

  router.post('/connectors/:connector/tasks', async (context) => {
    const configs = parseTaskConfigs(await signedBody(context, 'externally setting task configurations'));
    await withinTimeLimit(herder.stage, herder.requests.putTaskConfigs(pathName(context, 'connector'), configs));
    answerEmpty(context, 204);
  });

  router.put('/connectors/:connector/fence', async (context) => {
    await signedBody(context, 'exactly-once source connectors', SMALL_BODY_BYTES);
    await withinTimeLimit(herder.stage, herder.requests.fenceZombies(pathName(context, 'connector')));
    answerEmpty(context, 204);
  });

  router.put('/cluster/drain', async (context) => {
    const order = parseDrainOrder(await signedBody(context, 'draining workers', SMALL_BODY_BYTES));
    drains?.obey(order);
    answerEmpty(context, 204);
  });
};
