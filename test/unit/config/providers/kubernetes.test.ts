import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { ConfigProviderPlugin } from '../../../../src/config/providers/config-provider.ts';
import { KubernetesApi } from '../../../../src/config/providers/kubernetes-api.ts';
import {
  kubernetesConfigMapConfigProvider,
  kubernetesSecretConfigProvider,
} from '../../../../src/config/providers/kubernetes-config-provider.ts';
import { ConfigError } from '../../../../src/errors.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { kubernetesStub, type KubernetesStub } from '../../../support/kubernetes-stub.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const SECRETS = '/api/v1/namespaces/project/secrets';

describe('config providers for Kubernetes', () => {
  let stub: KubernetesStub;
  const variables = ['KUBERNETES_MASTER', 'KUBERNETES_NAMESPACE', 'KUBERNETES_AUTH_TOKEN'] as const;
  const earlier = variables.map((name) => process.env[name]);

  async function given(
    plugin: ConfigProviderPlugin,
    path: string,
    keys: readonly string[],
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<Record<string, string>> {
    const provider = plugin.create(parameters, { logger: silentLogger });
    return Object.fromEntries((await provider.get(path, new Set(keys))).values);
  }

  before(async () => {
    stub = await kubernetesStub({
      [`${SECRETS}/database`]: { data: { password: base64('sécret'), user: base64('me') } },
      [`${SECRETS}/ca`]: { data: { 'b.crt': base64('B'), 'a.crt': base64('A'), 'a.key': base64('K') } },
      [`${SECRETS}/empty`]: {},
      [`${SECRETS}/forbidden`]: 403,
      '/api/v1/namespaces/own/configmaps/paths': { data: { file: '/data/in.txt' } },
    });
    process.env['KUBERNETES_MASTER'] = stub.url;
    process.env['KUBERNETES_NAMESPACE'] = 'own';
    process.env['KUBERNETES_AUTH_TOKEN'] = 'token-of-the-pod';
  });

  after(async () => {
    variables.forEach((name, index) => {
      const value = earlier[index];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    });
    await stub.close();
  });

  it('return decoded keys of a Secret with the token of the service account', async () => {
    assert.deepEqual(await given(kubernetesSecretConfigProvider, 'project/database', ['password', 'other']), {
      password: 'sécret',
    });
    assert.deepEqual(stub.requests.at(-1), {
      path: `${SECRETS}/database`,
      authorization: 'Bearer token-of-the-pod',
    });
  });

  it('return keys of a ConfigMap, by default in the namespace of the pod', async () => {
    assert.deepEqual(await given(kubernetesConfigMapConfigProvider, 'paths', ['file', 'missing']), {
      file: '/data/in.txt',
    });
  });

  it('join all keys that match a pattern, in order', async () => {
    assert.deepEqual(await given(kubernetesSecretConfigProvider, 'project/ca', ['*.crt', '?.key', '*.p12']), {
      '*.crt': 'A\nB',
      '?.key': 'K',
    });
    assert.deepEqual(await given(kubernetesSecretConfigProvider, 'project/ca', ['*'], { separator: ',' }), {
      '*': 'A,K,B',
    });
    assert.deepEqual(await given(kubernetesSecretConfigProvider, 'project/empty', ['*.crt']), {});
    const long = `${'*a'.repeat(400)}b`;
    assert.deepEqual(await given(kubernetesSecretConfigProvider, 'project/ca', [long]), {});
  });

  it('report missing, forbidden and invalid resources without quoting the response', async () => {
    const failures: readonly [string, RegExp][] = [
      ['project/none', /^Secret none in namespace project not found$/],
      ['project/forbidden', /^Failed to retrieve Secret forbidden from .* project .*403.*needs the right to get/],
      ['Project/UPPER', /^Invalid path Project\/UPPER\. It has to be in format <namespace>\/<secret>/],
      ['a/b/c', /^Invalid path a\/b\/c/],
    ];
    for (const [path, message] of failures) {
      await assert.rejects(given(kubernetesSecretConfigProvider, path, ['a']), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret text/);
        return true;
      });
    }
    stub.resources.set(`${SECRETS}/broken`, '{"data": {"password": "c2VjcmV0"');
    await assert.rejects(given(kubernetesSecretConfigProvider, 'project/broken', ['a']), (error: Error) => {
      assert.match(error.message, /the response is not a JSON object/);
      assert.doesNotMatch(error.message, /c2VjcmV0/);
      return true;
    });
  });

  it('report that the API server is unknown outside of a cluster', async () => {
    await assert.rejects(
      new KubernetesApi({}).data('secrets', 'a', 'b'),
      /set KUBERNETES_SERVICE_HOST or KUBERNETES_MASTER/,
    );
  });

  it('trust the mounted authority, and read a rotated token', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    });
    const tokens: (string | undefined)[] = [];
    const server = createServer({ key, cert }, (request, response) => {
      tokens.push(request.headers.authorization);
      response.end('{"data":{"a":"b"}}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'sluice-account-'));
    try {
      const environment = {
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
      };
      const api = new KubernetesApi(environment, folder);
      await assert.rejects(api.data('configmaps', 'n', 'c'), /self.signed|unable to verify/i);
      await writeFile(join(folder, 'ca.crt'), cert);
      await writeFile(join(folder, 'namespace'), 'mine\n');
      for (const token of ['first', 'second']) {
        await writeFile(join(folder, 'token'), `${token}\n`);
        assert.deepEqual([...(await api.data('configmaps', 'n', 'c'))], [['a', 'b']]);
      }
      assert.deepEqual([tokens, await api.namespace()], [['Bearer first', 'Bearer second'], 'mine']);
    } finally {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(folder, { recursive: true });
    }
  });
});
