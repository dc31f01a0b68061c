import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { IncomingHttpHeaders } from 'node:http';
import { errorAnswer } from '../../../src/rest/error-mapping.ts';
import { RequestError } from '../../../src/errors.ts';
import { NotOwnerError } from '../../../src/herder/not-owner-error.ts';
import { PeerUnreachableError, type PeerRequest } from '../../../src/herder/peer-client.ts';
import type { HttpAnswer } from '../../../src/http/http-client.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { forwardAs, forwarding } from '../../../src/rest/forwarding.ts';
import { RequestSenders } from '../../../src/rest/request-sender.ts';
import type { Context } from '../../../src/rest/resource.ts';

const LEADER = 'http://leader:8083/';

/** One request as this worker gets it. */
interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string;
}

class Scene {
  readonly sent: PeerRequest[] = [];
  caughtUp = 0;
  /** Responses of other workers, in turn; the last one is repeated. */
  answers: (() => HttpAnswer)[] = [];
  /** Handlers of this worker, in turn; the last one is repeated. */
  handlers: ((context: Context) => void)[] = [];

  async ask({ method = 'GET', url = '/connectors/c', headers = {}, body = '' }: Asked = {}) {
    const set: Record<string, string> = {};
    const { pathname, searchParams } = new URL(url, 'http://here:8083');
    const context = {
      method,
      path: pathname,
      state: { ownUrl: 'http://here:8083' },
      query: Object.fromEntries(searchParams),
      req: Object.assign(Readable.from([Buffer.from(body)]), {
        url,
        headers: { ...headers, ...(body === '' ? {} : { 'content-length': String(body.length) }) },
      }),
      get: (name: string) => headers[name.toLowerCase()] ?? '',
      set: (name: string, value: string) => (set[name] = value),
      remove: () => undefined,
      status: 0,
      body: undefined as unknown,
    };
    const herder = { catchUp: () => Promise.resolve(void (this.caughtUp += 1)) };
    const request = (asked: PeerRequest): Promise<HttpAnswer> => {
      this.sent.push(asked);
      return Promise.resolve().then(
        () => (this.answers.length > 1 ? this.answers.shift() : this.answers[0])?.() as never,
      );
    };
    const senders = new RequestSenders({ sessionKey: undefined });
    const parts = { herder, peers: { request }, senders, logger: silentLogger } as unknown as Parameters<
      typeof forwarding
    >[0];
    const handle = async (given: Context): Promise<void> => {
      await Promise.resolve();
      (this.handlers.length > 1 ? this.handlers.shift() : this.handlers[0])?.(given);
    };
    try {
      await forwarding(parts, handle)(context as unknown as Parameters<ReturnType<typeof forwarding>>[0], () =>
        Promise.resolve(),
      );
    } catch (error) {
      const { status, body: answer } = errorAnswer(error);
      return { status, body: answer.message, headers: set };
    }
    const text = Buffer.isBuffer(context.body) ? context.body.toString() : context.body;
    return { status: context.status, body: text, headers: set };
  }
}

const elsewhere =
  (url: string | undefined = LEADER) =>
  (): never => {
    throw new NotOwnerError('Only the leader can process this request.', url);
  };
const noLeader = (): never => {
  throw new NotOwnerError('Only the leader can process this request.', undefined);
};
const answered =
  (status: number, body = '{}', headers: IncomingHttpHeaders = {}) =>
  (): HttpAnswer => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  });
const fails = (error: Error) => (): never => {
  throw error;
};

describe('a request that another worker has to answer', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('goes to the leader, path, parameters and credentials as they came, and its answer comes back', async () => {
    scene.handlers = [elsewhere()];
    scene.answers = [answered(201, '{"name":"ü"}', { location: 'http://leader:8083/connectors/%C3%BC' })];
    const answer = await scene.ask({
      method: 'PUT',
      url: '/connectors/%C3%BC/config?x=1',
      headers: { authorization: 'Basic eDp5', 'content-type': 'application/json', cookie: 'no' },
      body: '{"a":"b"}',
    });
    const [sent] = scene.sent;
    assert.equal(sent?.url, 'http://leader:8083/connectors/%C3%BC/config?forward=true&x=1');
    assert.deepEqual([sent.method, sent.body?.toString()], ['PUT', '{"a":"b"}']);
    assert.deepEqual(sent.headers, {
      authorization: 'Basic eDp5',
      'content-type': 'application/json',
      'User-Agent': 'kafka-connect',
    });
    assert.ok(sent.timeoutMs > 80_000 && sent.timeoutMs <= 90_000, 'as long as any request may take');
    assert.deepEqual([answer.status, answer.body], [201, '{"name":"ü"}']);
    assert.equal(answer.headers['Location'], 'http://here:8083/connectors/%C3%BC');
    assert.equal(scene.caughtUp, 1, 'what was changed there is known here');
  });

  it('may be forwarded once more by the worker that it was forwarded to, and not a third time', async () => {
    scene.handlers = [elsewhere('http://owner:8083/')];
    scene.answers = [answered(204, '')];
    await scene.ask({ method: 'POST', url: '/connectors/c/restart?forward=true' });
    assert.equal(scene.sent[0]?.url, 'http://owner:8083/connectors/c/restart?forward=false');
    const third = await scene.ask({ method: 'POST', url: '/connectors/c/restart?forward=false' });
    assert.deepEqual(
      [third.status, third.body],
      [409, 'Cannot complete request because of a conflicting operation (e.g. worker rebalance)'],
    );
    assert.equal(scene.sent.length, 1);
  });

  it('is a conflict that clients try again when there is no leader', async () => {
    scene.handlers = [noLeader];
    const { status, body } = await scene.ask();
    assert.deepEqual(
      [status, body],
      [409, 'Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.'],
    );
  });

  it('is asked of the group again when the other worker is gone, and answered by whom it has now', async () => {
    scene.handlers = [elsewhere(), elsewhere('http://next:8083/')];
    scene.answers = [fails(new PeerUnreachableError('connect ECONNREFUSED')), answered(200, '{"name":"c"}')];
    const { status } = await scene.ask();
    assert.deepEqual([status, scene.sent.length], [200, 2]);
    assert.equal(scene.sent[1]?.url, 'http://next:8083/connectors/c?forward=true');
  });

  it('is not sent twice when the other worker may have seen it: that is an error that clients know', async () => {
    scene.handlers = [elsewhere()];
    scene.answers = [fails(new Error('no answer within 90000 ms'))];
    const { status, body } = await scene.ask({ method: 'DELETE' });
    assert.deepEqual([status, body], [500, 'IO Error trying to forward REST request: no answer within 90000 ms']);
    assert.equal(scene.sent.length, 1);
  });

  it('has no page as its answer, and no answer of any size', async () => {
    scene.handlers = [elsewhere()];
    scene.answers = [answered(200, '<script>1</script>', { 'content-type': 'text/html' })];
    const { headers } = await scene.ask({});
    assert.equal(headers?.['Content-Type'], 'text/plain');
    assert.ok((scene.sent[0]?.maxBytes ?? Infinity) <= 200_000_000);
  });

  it('has the other worker’s refusal as its answer', async () => {
    scene.handlers = [elsewhere()];
    scene.answers = [answered(409, '{"error_code":409,"message":"Connector c already exists"}')];
    const { status, body } = await scene.ask({ method: 'POST', url: '/connectors', body: '{}' });
    assert.deepEqual([status, body], [409, '{"error_code":409,"message":"Connector c already exists"}']);
    assert.equal(scene.caughtUp, 0);
  });

  it('for a connector not known here is answered after reading what others have created', async () => {
    const missing = (): never => {
      throw new RequestError(404, 'Connector c not found');
    };
    scene.handlers = [missing, (context) => void (context.status = 200)];
    assert.equal((await scene.ask()).status, 200);
    assert.equal(scene.caughtUp, 1);
    scene.handlers = [missing];
    assert.equal((await scene.ask()).status, 404);
  });

  it('is sent in another form where that is wanted, and nothing of the response is passed on automatically', async () => {
    const scene = new Scene();
    const answers: string[] = [];
    scene.handlers = [
      (context) => {
        forwardAs(context, {
          path: '/connectors/c/config',
          body: Buffer.from('{"a":"1"}'),
          answered: ({ body }) => void answers.push(body.toString()),
        });
        elsewhere()();
      },
    ];
    scene.answers = [answered(200, '{"config":{"password":"x"}}', { location: 'http://leader:8083/connectors/c' })];
    const { body, headers } = await scene.ask({ method: 'PUT', url: '/ui/connectors/c/config', body: '{}' });
    const [sent] = scene.sent;
    assert.equal(sent?.url, 'http://leader:8083/connectors/c/config?forward=true');
    assert.equal(sent.body?.toString(), '{"a":"1"}');
    assert.deepEqual(answers, ['{"config":{"password":"x"}}']);
    assert.deepEqual([body, headers], [undefined, {}]);
  });
});
