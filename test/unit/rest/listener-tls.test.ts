import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type RequestOptions } from 'node:https';
import { connect } from 'node:tls';
import { generate } from 'selfsigned';
import { ConfigError } from '../../../src/errors.ts';
import { listenerTls } from '../../../src/tls/listener-tls.ts';
import { HOSTILE_REQUESTS, answersTo, secureAnswersTo, statusesOf } from '../../support/hostile-requests.ts';
import { RestServerFixture } from './rest-server-fixture.ts';

const DAY_MS = 86_400_000;

interface Identity {
  readonly key: string;
  readonly cert: string;
}

async function authority(name: string): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 20 * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return { key, cert };
}

/** A certificate of an authority, valid from and until these numbers of days from now. */
async function issued(by: Identity, from: number, until: number): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + from * DAY_MS),
    notAfterDate: new Date(Date.now() + until * DAY_MS),
    ca: by,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  return { key, cert };
}

describe('an https listener of the management API', () => {
  let own: Identity;
  let server: Identity;
  let clients: Readonly<Record<'good' | 'foreign' | 'selfIssued' | 'expired' | 'early', Identity>>;
  let api: RestServerFixture | undefined;

  before('makes certificates', async () => {
    own = await authority('own');
    const foreign = await authority('foreign');
    server = await issued(own, -1, 10);
    clients = {
      good: await issued(own, -1, 10),
      foreign: await issued(foreign, -1, 10),
      selfIssued: foreign,
      expired: await issued(own, -10, -1),
      early: await issued(own, 1, 10),
    };
  });
  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  async function listen(settings: Readonly<Record<string, string>> = {}): Promise<RestServerFixture> {
    const tls = listenerTls(
      {
        'ssl.keystore.key': server.key,
        'ssl.keystore.certificate.chain': server.cert,
        'ssl.truststore.certificates': own.cert,
        ...settings,
      },
      'listeners.https.',
    );
    api = await RestServerFixture.start({}, ['orders'], tls);
    return api;
  }

  /** The status of the answer, or `refused`. */
  async function ask(options: RequestOptions = {}): Promise<number | 'refused'> {
    return new Promise((resolve) => {
      const url = `https://127.0.0.1:${String(api?.port)}/connectors`;
      request(url, { ca: own.cert, agent: false, ...options }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
        .on('error', () => resolve('refused'))
        .end();
    });
  }

  it('with ssl.client.auth=required answers nobody but clients with a valid certificate of a trusted authority', async () => {
    await listen({ 'ssl.client.auth': 'required' });
    assert.equal(await ask(clients.good), 200);
    assert.equal(await ask(), 'refused', 'no certificate');
    for (const kind of ['foreign', 'selfIssued', 'expired', 'early'] as const)
      assert.equal(await ask(clients[kind]), 'refused', kind);
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      assert.equal(await ask({ ...clients.foreign, maxVersion }), 'refused', maxVersion);
      assert.equal(await ask({ maxVersion }), 'refused', maxVersion);
    }
  });

  it('with ssl.client.auth=requested answers clients without a certificate, and none that shows an invalid one', async () => {
    await listen({ 'ssl.client.auth': 'requested' });
    assert.equal(await ask(), 200);
    assert.equal(await ask(clients.good), 200);
    for (const kind of ['foreign', 'selfIssued', 'expired', 'early'] as const)
      assert.equal(await ask(clients[kind]), 'refused', kind);
  });

  it('refuses TLS 1.0 and 1.1, and ciphers without authentication, encryption or strength', async () => {
    await listen();
    const weak = { minVersion: 'TLSv1', ciphers: 'ALL:COMPLEMENTOFALL@SECLEVEL=0' } as const;
    assert.equal(await ask({ ...weak, maxVersion: 'TLSv1' }), 'refused');
    assert.equal(await ask({ ...weak, maxVersion: 'TLSv1.1' }), 'refused');
    assert.equal(await ask({ ...weak, maxVersion: 'TLSv1.2' }), 200);
    for (const ciphers of ['eNULL', 'aNULL', 'kRSA', 'kPSK', 'kSRP'])
      assert.equal(await ask({ ciphers: `${ciphers}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' }), 'refused', ciphers);
  });

  it('keeps to ssl.enabled.protocols and to ssl.cipher.suites, whose names may be those of Java', async () => {
    await listen({ 'ssl.enabled.protocols': 'TLSv1.3' });
    assert.equal(await ask({ maxVersion: 'TLSv1.2' }), 'refused');
    assert.equal(await ask(), 200);
    await api?.close();
    await listen({ 'ssl.enabled.protocols': 'TLSv1.2' });
    assert.equal(await ask({ minVersion: 'TLSv1.3' }), 'refused');
    assert.equal(await ask(), 200);
    await api?.close();
    await listen({
      'ssl.enabled.protocols': 'TLSv1.2',
      'ssl.cipher.suites': 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    });
    assert.equal(await ask({ ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), 'refused');
    assert.equal(await ask({ ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' }), 200);
  });

  it('does not open with a protocol or a cipher that does not exist, or with none', async () => {
    await assert.rejects(listen({ 'ssl.enabled.protocols': 'TLSv1.2,TLSv1.4' }), ConfigError);
    await assert.rejects(listen({ 'ssl.enabled.protocols': 'SSLv3' }), ConfigError);
    await assert.rejects(listen({ 'ssl.cipher.suites': 'TLS_NO_SUCH_SUITE' }), ConfigError);
    await assert.rejects(listen({ 'ssl.client.auth': 'sometimes' }), ConfigError);
  });

  it('does not renegotiate for a client', async () => {
    await listen();
    const socket = connect({ port: api?.port ?? 0, host: '127.0.0.1', ca: own.cert, maxVersion: 'TLSv1.2' });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    const failure = await new Promise<Error | null>((resolve) => {
      socket.once('close', () => resolve(new Error('closed')));
      socket.renegotiate({}, resolve);
    });
    socket.destroy();
    assert.ok(failure !== null);
    assert.equal(await ask(), 200);
  });

  it('closes connections that speak plain HTTP, or begin a handshake with garbage', async () => {
    await listen();
    const port = api?.port ?? 0;
    assert.equal(await answersTo(port, 'GET /connectors HTTP/1.1\r\nHost: localhost\r\n\r\n'), '');
    for (const garbage of ['\x16\x03\x01\xff\xff\0\0\0', '\x16', `\x16\x03\x01\x40\x00${'\x01'.repeat(16_384)}`])
      assert.doesNotMatch(await answersTo(port, garbage), /HTTP/);
    assert.equal(await ask(), 200);
  });

  it('takes requests that are not well formed for one request, and no other after it', async () => {
    await listen();
    for (const { name, bytes, statuses } of HOSTILE_REQUESTS) {
      const smuggled = bytes.replaceAll('/smuggled', '/connectors');
      const text = await secureAnswersTo(api?.port ?? 0, smuggled);
      const [status = 0, ...others] = statusesOf(text);
      assert.deepEqual([others.filter((other) => other === 200), text.includes('orders')], [[], false], name);
      // Where the connection is closed in the middle of a request, the client may not get to the answer.
      assert.ok(text === '' || (statuses?.includes(status) ?? status !== 200), `${name}: ${text}`);
    }
  });
});
