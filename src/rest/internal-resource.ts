import { RequestError } from '../errors.ts';
import { requireSignature } from '../herder/request-signature.ts';
import { parseTaskConfigs, readBytes } from './request-body.ts';
import { parseDrainOrder } from './drain-body.ts';
import { answerEmpty, pathName, withinTimeLimit, type Context, type Resource } from './resource.ts';

const STANDALONE = 'Kafka Connect in standalone mode does not support';

/** Signed requests between the workers of a cluster (org.apache.kafka.connect.runtime.rest.resources.InternalClusterResource). */
export const internalResource: Resource = (router, { herder, signatureAlgorithms, drains }) => {
  const signedBody = async (context: Context, what: string): Promise<string> => {
    if (signatureAlgorithms === undefined) throw new RequestError(500, `${STANDALONE} ${what}.`);
    const body = await readBytes(context.req);
    const request = {
      algorithm: context.get('X-Connect-Request-Signature-Algorithm') || undefined,
      signature: context.get('X-Connect-Authorization') || undefined,
      body,
    };
    requireSignature(request, signatureAlgorithms, herder.sessionKey);
    return body.toString();
  };

  router.post('/connectors/:connector/tasks', async (context) => {
    const configs = parseTaskConfigs(await signedBody(context, 'externally setting task configurations'));
    await withinTimeLimit(herder.stage, herder.requests.putTaskConfigs(pathName(context, 'connector'), configs));
    answerEmpty(context, 204);
  });

  router.put('/connectors/:connector/fence', async (context) => {
    await signedBody(context, 'exactly-once source connectors');
    await withinTimeLimit(herder.stage, herder.requests.fenceZombies(pathName(context, 'connector')));
    answerEmpty(context, 204);
  });

  router.put('/cluster/drain', async (context) => {
    const order = parseDrainOrder(await signedBody(context, 'draining workers'));
    drains?.obey(order);
    answerEmpty(context, 204);
  });
};
