import type { Herder } from '../herder/herder.ts';
import type { Logger } from '../observe/logger.ts';
import { sleep } from '../async/sleep.ts';
import type Koa from 'koa';
import { RequestError, toError } from '../errors.ts';
import { NotOwnerError } from '../herder/not-owner-error.ts';
import { PeerUnreachableError, type PeerClient } from '../herder/peer-client.ts';
import type { HttpAnswer } from '../http/http-client.ts';
import type { RequestSenders, SentRequest } from './request-sender.ts';
import { readBytes } from './request-body.ts';
import { queryText, REQUEST_TIMEOUT_MS, type Context } from './resource.ts';

/** The parts of the worker that forwarding uses. */
export interface Forwarding {
  /** Its `catchUp` applies the changes that other workers have stored. */
  readonly herder: Pick<Herder, 'catchUp'>;
  readonly peers: PeerClient;
  readonly senders: RequestSenders;
  readonly logger: Logger;
}

/** Headers that are forwarded: credentials, the types of the body and of the answer, and the signature of another worker. */
const PASSED_ON = [
  'authorization',
  'content-type',
  'accept',
  'x-connect-authorization',
  'x-connect-request-signature-algorithm',
];
const NO_LEADER =
  'Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.';
const TWO_HOPS = 'Cannot complete request because of a conflicting operation (e.g. worker rebalance)';
const RETRY_MS = 250;
/** Limit of another worker's answer; no useful answer of this API is larger. */
const MAX_ANSWER_BYTES = 134_217_728;

/**
 * Another form of a request, which is forwarded in place of the original. `answered` receives the answer of the other
 * worker.
 */
export interface OtherForm extends SentRequest {
  readonly answered: (answer: HttpAnswer) => void;
}

const otherForms = new WeakMap<Context, OtherForm>();

/** Sets the form in which the request is forwarded. */
export function forwardAs(context: Context, form: OtherForm): void {
  otherForms.set(context, form);
}

/**
 * Answers the requests that this worker can answer, and forwards those that the leader or the owner of a connector must
 * answer (org.apache.kafka.connect.runtime.rest.HerderRequestHandler#completeOrForwardRequest). A request is forwarded
 * at most twice, because the second worker sends `forward=false` to the third. `handle` may be called several times.
 */
export function forwarding(
  to: Forwarding,
  handle: (context: Context, next: Koa.Next) => Promise<void>,
): Koa.Middleware {
  return async (context: Context, next) => {
    const deadline = Date.now() + REQUEST_TIMEOUT_MS;
    let caughtUp = false;
    for (;;) {
      try {
        await handle(context, next);
        return;
      } catch (error) {
        if (error instanceof NotOwnerError) {
          if (await forwarded(context, to, error, deadline)) return;
        } else if (!caughtUp && isMissing(context, error)) {
          // Another worker may have created the connector a moment ago.
          caughtUp = true;
          await to.herder.catchUp();
        } else throw error;
      }
    }
  };
}

function isMissing(context: Context, error: unknown): boolean {
  return error instanceof RequestError && error.status === 404 && context.path.startsWith('/connectors/');
}

/** Forwards a request. `false`: the other worker is unreachable, and the owner must be determined again. */
async function forwarded(context: Context, to: Forwarding, { url }: NotOwnerError, deadline: number): Promise<boolean> {
  const forward = queryText(context, 'forward');
  if (forward !== undefined && forward.toLowerCase() !== 'true') throw new RequestError(409, TWO_HOPS);
  if (url === undefined || url === '') throw new RequestError(409, NO_LEADER);
  const form = otherForms.get(context);
  const target = targetOf(form?.path ?? context.req.url ?? '', url, forward === undefined);
  to.logger.debug(`Forwarding ${context.method} ${target}`);
  let answer: HttpAnswer;
  try {
    answer = await to.peers.request({
      method: context.method,
      url: target,
      headers: { ...headersOf(context), ...(await to.senders.headers(context, form)) },
      body: form?.body ?? (hasBody(context) ? await readBytes(context.req) : undefined),
      timeoutMs: Math.max(1, deadline - Date.now()),
      maxBytes: MAX_ANSWER_BYTES,
    });
  } catch (error) {
    if (!(error instanceof PeerUnreachableError) || Date.now() + RETRY_MS > deadline) {
      throw new RequestError(500, `IO Error trying to forward REST request: ${toError(error).message}`, {
        cause: error,
      });
    }
    // The worker has not received the request, and the group will soon detect that it is gone.
    await sleep(RETRY_MS);
    return false;
  }
  // The client's next request to this worker must see the changes that the forwarded request has made.
  if (context.method !== 'GET' && answer.status < 400) await to.herder.catchUp();
  if (form === undefined) relay(context, answer);
  else form.answered(answer);
  return true;
}

/**
 * The URL at the other worker. It has the original path, so that names stay encoded, and all parameters except
 * `forward`, which is replaced.
 */
function targetOf(asked: string, url: string, mayForwardAgain: boolean): string {
  const [path = '', query = ''] = asked.split('?', 2);
  const parameters = query.split('&').filter((part) => part !== '' && !/^forward(=|$)/.test(part));
  return `${url.replace(/\/$/, '')}${path}?${[`forward=${String(mayForwardAgain)}`, ...parameters].join('&')}`;
}

function headersOf(context: Context): Record<string, string> {
  const given = PASSED_ON.map((name) => [name, context.get(name)] as const);
  return { ...Object.fromEntries(given.filter(([, value]) => value !== '')), 'User-Agent': 'kafka-connect' };
}

function hasBody(context: Context): boolean {
  const { headers } = context.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Passes on the answer of the other worker. The header `Location` is changed to the advertised address of this worker, not
 * to that of the header `Host`, which the client controls.
 */
function relay(context: Context, { status, headers, body }: HttpAnswer): void {
  const { location, 'content-type': contentType } = headers;
  context.status = status;
  context.body = body.length === 0 ? (status === 204 ? null : '') : body;
  if (contentType === undefined || body.length === 0) context.remove('Content-Type');
  // A browser must not show the answer as a page.
  else
    context.set('Content-Type', /^(?:application\/json|text\/plain)\b/i.test(contentType) ? contentType : 'text/plain');
  if (location !== undefined && URL.canParse(location)) {
    const { pathname } = new URL(location);
    context.set('Location', `${String(context.state['ownUrl'])}${pathname}`);
  }
}
