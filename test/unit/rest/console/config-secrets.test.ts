import assert from 'node:assert/strict';
import type { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import { configMask, secretKeys, shownConfig, withStoredValues } from '../../../../src/rest/console/config-secrets.ts';

const OPTIONS = {
  'sink.Sink': { pin: { type: 'PASSWORD' }, 'sort.key': { type: 'STRING' } },
  'smt.Sign': { seal: { type: 'PASSWORD' } },
} as const;
const plugins = {
  prepare: async () => undefined,
  tryFind: (_kind: string, name: string) => ({ options: OPTIONS[name as keyof typeof OPTIONS] }),
} as unknown as PluginRegistry;

const STORED = {
  name: 'orders',
  'connector.class': 'sink.Sink',
  pin: '1234-5678',
  'sort.key': 'id',
  'connection.password': 'correct horse',
  'other.key': 'battery',
  url: 'jdbc:x://ann:staple@db/x',
  transforms: 'sign',
  'transforms.sign.type': 'smt.Sign',
  'transforms.sign.seal': 'wax-and-ink',
  'consumer.override.sasl.jaas.config': 'Module required password="p4ss";',
  'consumer.override.client.rack': 'r1',
  token: '${file:/secrets:token}',
  'read.url': 'jdbc:x://ann:${env:PW}@db/x?password=${env:PW}',
};

describe('configurations for browsers', () => {
  it('have a mark for what plugins, clients, names and URLs say to be secret; variables are shown', async () => {
    const { entries } = shownConfig(STORED, await secretKeys(STORED, plugins));
    const shown = Object.fromEntries(entries);
    const hidden = Object.keys(STORED).filter((key) => shown[key] === '[hidden]');
    assert.deepEqual(hidden, [
      'pin',
      'connection.password',
      'other.key',
      'url',
      'transforms.sign.seal',
      'consumer.override.sasl.jaas.config',
    ]);
    assert.deepEqual(
      entries.map(([key]) => key),
      Object.keys(STORED),
    );
    assert.equal(shown['token'], '${file:/secrets:token}');
    assert.equal(shown['sort.key'], 'id');
    assert.equal(shown['read.url'], STORED['read.url']);
  });

  it('have a version that changes with what is shown, and not with a secret', async () => {
    const version = async (config: Readonly<Record<string, string>>) =>
      shownConfig(config, await secretKeys(config, plugins)).version;
    assert.equal(await version({ ...STORED, pin: '8765-4321' }), await version(STORED));
    assert.notEqual(await version({ ...STORED, 'sort.key': 'ts' }), await version(STORED));
  });

  it('get the stored value for a mark of the same key, and none where nothing is stored', () => {
    const given = { 'sort.key': 'ts', pin: '[hidden]', fresh: '[hidden]', __proto__: null, toString: '[hidden]' };
    const { config, missing } = withStoredValues(given, STORED);
    assert.deepEqual(config, { 'sort.key': 'ts', pin: '1234-5678', fresh: '[hidden]', toString: '[hidden]' });
    assert.deepEqual(missing, ['fresh', 'toString']);
  });

  it('have their secrets taken out of messages, the password within a URL too', async () => {
    const mask = configMask(STORED, await secretKeys(STORED, plugins));
    assert.equal(mask.hide('no 1234-5678, and staple of ann for r1'), 'no [hidden], and [hidden] of ann for r1');
  });
});
