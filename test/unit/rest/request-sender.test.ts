import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { signatureCheck } from '../../../src/herder/request-signature.ts';
import { RequestSenders } from '../../../src/rest/request-sender.ts';
import type { Context } from '../../../src/rest/resource.ts';

const KEY = { key: Buffer.alloc(32, 7).toString('base64'), algorithm: 'HmacSHA256', createdAtMs: 0 };
const ALGORITHMS = ['HmacSHA256'];

const senders = (key = KEY, algorithms = ALGORITHMS) => new RequestSenders({ sessionKey: key }, algorithms);

interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly body?: string;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function request({
  method = 'PUT',
  url = '/connectors/c/config',
  body = '{}',
  from = '::ffff:10.0.0.7',
  headers = {},
}: Asked) {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    method,
    query: Object.fromEntries(new URL(url, 'http://a').searchParams),
    state: { user: 'ann' },
    req: Object.assign(Readable.from([Buffer.from(body)]), { url, headers: {}, socket: { remoteAddress: from } }),
    get: (name: string) => new Map(given).get(name.toLowerCase()) ?? '',
  } as unknown as Context;
}

describe('who sent a request', () => {
  const forwarded = async (more: Asked = {}) => {
    const headers = await senders().headers(request({}));
    return request({ url: '/connectors/c/config?forward=false', from: '10.0.0.2', headers, ...more });
  };

  it('is its client, also behind a worker, and behind two', async () => {
    assert.deepEqual(await senders().of(request({})), { user: 'ann', address: '10.0.0.7' });
    const second = await forwarded();
    assert.deepEqual(await senders().of(second), { user: 'ann', address: '10.0.0.7', via: '10.0.0.2' });
    const headers = await senders().headers(second);
    const third = request({ url: '/connectors/c/config?forward=false', from: '10.0.0.3', headers });
    assert.deepEqual(await senders().of(third), { user: 'ann', address: '10.0.0.7', via: '10.0.0.3' });
  });

  it('is not known for another request, by another key, or without a signature; nothing is then said to the next worker', async () => {
    const unknown = { user: 'ann', address: null, via: '10.0.0.2' };
    const others = [
      { method: 'DELETE' },
      { url: '/connectors/d/config' },
      { body: '{"a":1}' },
      { headers: {}, url: '/c?forward=true' },
    ];
    for (const other of others) assert.deepEqual(await senders().of(await forwarded(other)), unknown);
    const otherKey = { ...KEY, key: Buffer.alloc(32, 8).toString('base64') };
    assert.deepEqual(await senders(otherKey).of(await forwarded()), unknown);
    assert.deepEqual(await senders(KEY, ['HmacSHA512']).of(await forwarded()), unknown);
    assert.deepEqual(await senders().headers(await forwarded({ body: 'x' })), {});
  });

  it('is signed so that the signature does not fit a request between workers', async () => {
    const headers = await senders().headers(request({}));
    const [algorithm, signature] = (headers['X-Sluice-Client-Signature'] ?? '').split(':');
    for (const body of ['{}', 'PUT\n/connectors/c/config', '10.0.0.7']) {
      const requireSignature = signatureCheck({ algorithm, signature }, ALGORITHMS, KEY);
      assert.throws(() => requireSignature(Buffer.from(body)), /invalid signature/);
    }
  });
});
