import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CrossOrigin } from '../../../plugins/database-http/transport/cross-origin.ts';

function asked(
  origins: readonly string[],
  origin: string,
  method = 'GET',
  methods: readonly string[] | undefined = ['GET', 'POST'],
): { isPreflight: boolean; headers: Readonly<Record<string, string>> } {
  const headers: Record<string, string> = {};
  const request = {
    method,
    headers: { origin, ...(method === 'OPTIONS' ? { 'access-control-request-method': 'POST' } : {}) },
  } as unknown as IncomingMessage;
  const response = { setHeader: (name: string, value: string) => (headers[name] = value) } as unknown as ServerResponse;
  return { isPreflight: new CrossOrigin(origins).apply(request, response, methods), headers };
}

const allowed = (origins: readonly string[], origin: string): boolean =>
  asked(origins, origin).headers['Access-Control-Allow-Origin'] === origin;

describe('pages of other origins', () => {
  it('may call the API when cors.allow.origins names them', () => {
    assert.ok(allowed(['https://a.example'], 'https://a.example'));
    assert.ok(allowed(['https://a.example:8443', 'http://b.example'], 'http://b.example'));
    assert.ok(allowed(['https://*.example.org'], 'https://x.y.example.org'));
    assert.ok(allowed(['*'], 'https://anything'));
  });

  it('may not when it names others, or none', () => {
    for (const origin of [
      'http://a.example',
      'https://a.example:1',
      'https://a.example.evil',
      'https://ba.example',
      'null',
    ])
      assert.ok(!allowed(['https://a.example', 'https://*.a.example'], origin), origin);
    assert.ok(!allowed(['https://*.example.org'], 'https://example.org'));
    assert.ok(!allowed(['https://*.example.org'], 'https://badexample.org'));
    assert.deepEqual(asked([], 'https://a.example', 'OPTIONS'), { isPreflight: false, headers: {} });
  });

  it('learn the methods of the path from a preflight request, which needs no credentials', () => {
    const { isPreflight, headers } = asked(['*'], 'https://a', 'OPTIONS');
    assert.ok(isPreflight);
    assert.deepEqual([headers['Access-Control-Allow-Methods'], headers['Vary']], ['GET, POST', 'Origin']);
    assert.match(headers['Access-Control-Allow-Headers'] ?? '', /Authorization/);
    assert.ok(!asked(['https://b'], 'https://a', 'OPTIONS').isPreflight);
    assert.ok(!('Access-Control-Allow-Credentials' in headers));
  });

  it('are not named by invalid origins', () => {
    for (const entry of [
      'a.example',
      'https://a.example/',
      'https://*',
      'ftp://a',
      'https://a*.example',
      'https://a:b@c',
    ])
      assert.throws(
        () => new CrossOrigin([entry]),
        /database\.http\.cors\.allow\.origins: .* is not \*, an origin/,
        entry,
      );
  });
});
