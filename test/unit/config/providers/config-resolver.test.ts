import assert from 'node:assert/strict';
import type {
  ConfigProvider,
  ConfigProviderPlugin,
  ProvidedValues,
} from '../../../../src/config/providers/config-provider.ts';
import { ConfigResolver } from '../../../../src/config/providers/config-resolver.ts';
import { openProviders } from '../../../../src/config/providers/open-providers.ts';
import { configProviderPlugins } from '../../../../src/config/providers/registry.ts';
import { resolveWorkerProperties } from '../../../../src/config/providers/worker-variables.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';

const find = async (name: string) => Promise.resolve(configProviderPlugins.find((each) => each.className === name));

/** Gives `<path>/<key>` for every key but `none`, and keeps what it was asked. */
class Echo implements ConfigProvider {
  readonly asked: string[] = [];
  readonly #ttlMs: number | undefined;

  constructor(ttlMs?: number) {
    this.#ttlMs = ttlMs;
  }

  async get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues> {
    this.asked.push(`${path}: ${[...keys].join(' ')}`);
    const known = [...keys].filter((key) => key !== 'none');
    return Promise.resolve({ values: new Map(known.map((key) => [key, `${path}/${key}`])), ttlMs: this.#ttlMs });
  }
}

function resolverOf(providers: Record<string, ConfigProvider>, secrets = new SecretMask()): ConfigResolver {
  return new ConfigResolver(new Map(Object.entries(providers)), secrets, silentLogger);
}

describe('config variables', () => {
  it('are resolved anywhere in a value, several per value, with one lookup per path', async () => {
    const echo = new Echo();
    const { config } = await resolverOf({ e: echo }).resolve({
      a: '${e:p:one}',
      b: 'x${e:p:two}y${e:q:three}z',
      c: '${e:one}',
    });
    assert.deepEqual(config, { a: 'p/one', b: 'xp/twoyq/threez', c: '/one' });
    assert.deepEqual(echo.asked, ['p: one two', 'q: three', ': one']);
  });

  it('stay unchanged if the provider or the key is unknown, and are not resolved recursively', async () => {
    const again: ConfigProvider = { get: async () => Promise.resolve({ values: new Map([['k', '${e:p:one}']]) }) };
    const { config } = await resolverOf({ e: new Echo(), again }).resolve({
      a: '${nobody:p:k}',
      b: '${e:p:none}',
      c: '${again:k}',
      d: '${topic}-${timestamp}',
      e: '$${e:k}',
    });
    assert.deepEqual(config, {
      a: '${nobody:p:k}',
      b: '${e:p:none}',
      c: '${e:p:one}',
      d: '${topic}-${timestamp}',
      e: '$/k',
    });
  });

  it('are valid until the first value expires', async () => {
    const resolver = resolverOf({ slow: new Echo(9000), fast: new Echo(100), ever: new Echo() });
    assert.equal((await resolver.resolve({ a: '${slow:k}${fast:k}${ever:k}' })).ttlMs, 100);
    assert.equal((await resolver.resolve({ a: '${ever:k}' })).ttlMs, undefined);
  });

  it('turn their values into secrets', async () => {
    const secrets = new SecretMask();
    await resolverOf({ e: new Echo() }, secrets).resolve({ a: '${e:password:hunter2}' });
    assert.equal(secrets.hide('refused for "password/hunter2"'), 'refused for "[hidden]"');
  });

  it('of worker properties are resolved, except in plugin.path', async () => {
    process.env['SLUICE_TEST_GROUP'] = 'group-of-the-environment';
    const secrets = new SecretMask();
    const { properties, warnings } = await resolveWorkerProperties(
      {
        'config.providers': 'strimzienv',
        'config.providers.strimzienv.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
        'group.id': '${strimzienv:SLUICE_TEST_GROUP}',
        'plugin.path': '/x/${strimzienv:SLUICE_TEST_GROUP}',
      },
      find,
      secrets,
      silentLogger,
    );
    assert.equal(properties['group.id'], 'group-of-the-environment');
    assert.equal(properties['plugin.path'], '/x/${strimzienv:SLUICE_TEST_GROUP}');
    assert.deepEqual(warnings, [
      'Variables cannot be used in plugin.path; it is used unchanged: /x/${strimzienv:SLUICE_TEST_GROUP}',
    ]);
    // Not every value is a secret: a group that cannot be joined is named in the log.
    assert.equal(secrets.hide('group-of-the-environment'), 'group-of-the-environment');
  });

  it('of a provider with an unknown class cause an error with its name; without a class they stay unchanged', async () => {
    const properties = { 'config.providers': 'a', 'config.providers.a.class': 'com.acme.Vault' };
    await assert.rejects(openProviders(properties, find, silentLogger), {
      message:
        'Invalid value com.acme.Vault for configuration config.providers.a.class: Could not load config provider class or one of its dependencies',
    });
    assert.equal((await openProviders({ 'config.providers': 'a' }, find, silentLogger)).size, 0);
  });

  it('leave no provider open if another one fails to open', async () => {
    let closed = 0;
    const vault: ConfigProviderPlugin = {
      type: 'config_provider',
      className: 'com.acme.Vault',
      version: '1',
      create: () => ({
        get: () => Promise.resolve({ values: new Map() }),
        close: () => Promise.resolve(void closed++),
      }),
    };
    const properties = {
      'config.providers': 'a,b',
      'config.providers.a.class': 'com.acme.Vault',
      'config.providers.b.class': 'com.acme.None',
    };
    const findVault = (name: string) => Promise.resolve(name === vault.className ? vault : undefined);
    await assert.rejects(openProviders(properties, findVault, silentLogger), /com\.acme\.None/);
    assert.equal(closed, 1);
  });
});
