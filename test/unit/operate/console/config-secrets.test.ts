import assert from 'node:assert/strict';
import type { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import { withheld } from '../../../../src/config/secret-destinations.ts';
import { secretKeys } from '../../../../src/operate/history/password-keys.ts';
import { configMask, shownConfig, withStoredValues } from '../../../../src/operate/console/config-secrets.ts';

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

  it('hold secrets back from an address or a class that is another one than they were stored for', () => {
    const stored = {
      'connector.class': 'sink.Sink',
      'connection.url': 'jdbc:x://db/x',
      'connection.password': 'correct horse',
      'value.converter.schema.registry.url': 'https://registry',
      'value.converter.basic.auth.user.info': 'ann:staple',
      'tasks.max': '1',
    };
    const held = (changed: Readonly<Record<string, string>>) => {
      const secrets = { 'connection.password': '[hidden]', 'value.converter.basic.auth.user.info': '[hidden]' };
      const given = { ...stored, ...secrets, ...changed };
      const { config, kept } = withStoredValues(given, stored);
      return withheld(config, kept.keys(), stored);
    };
    assert.deepEqual(held({ 'tasks.max': '2' }), { keys: [], because: [] });
    assert.deepEqual(held({ 'connection.url': 'jdbc:x://evil/x' }), {
      keys: ['connection.password'],
      because: ['connection.url'],
    });
    assert.deepEqual(held({ 'connection.url': 'jdbc:x://evil/x', 'connection.password': 'given again' }), {
      keys: [],
      because: [],
    });
    assert.deepEqual(held({ 'value.converter': 'evil.Converter' }).keys, ['value.converter.basic.auth.user.info']);
    assert.equal(held({ 'connector.class': 'evil.Sink' }).keys.length, 2);
    assert.deepEqual(held({ 'connection.user': 'ann' }).keys, ['connection.password'], 'another user');
    assert.deepEqual(held({ 'connection.database': 'y' }).keys, ['connection.password'], 'another database');
    const { 'connection.url': _gone, ...others } = stored;
    assert.deepEqual(withheld(others, ['connection.password'], stored).because, ['connection.url']);
  });

  it('S3: hold the values of config providers back like stored secrets', () => {
    const stored = {
      'connector.class': 'sink.Sink',
      'connection.url': 'jdbc:x://db/x',
      'connection.password': '${file:/a:b}',
    };
    const held = (changed: Readonly<Record<string, string>>, before: Readonly<Record<string, string>> = stored) =>
      withheld({ ...stored, ...changed }, [], before);
    const password = ['connection.password'];
    assert.deepEqual(held({}), { keys: [], because: [] }, 'it is what is stored');
    assert.deepEqual(held({ 'connection.url': 'jdbc:x://evil/x' }), { keys: password, because: ['connection.url'] });
    assert.deepEqual(held({ 'connector.class': 'evil.Sink' }).keys, password);
    assert.deepEqual(held({ 'connection.password': '${file:/a:c}' }), { keys: password, because: password });
    assert.deepEqual(held({ 'connection.password': 'x${file:/a:b}' }).keys, password);
    assert.deepEqual(held({ 'connection.url': 'jdbc:x://${env:PIN}.evil/x' }).keys.length, 2);
    assert.deepEqual(held({ 'batch.size': '${env:PIN}' }).keys, ['batch.size']);
    assert.deepEqual(held({}, {}).keys, password, 'nothing is stored');
  });

  it('S3: hold the passwords of files that a typed connection URL names back', () => {
    const stored = { 'connector.class': 'sink.Sink', 'connection.url': 'jdbc:db://db/x?passfile=/w/pgpass' };
    const held = (url: string) => withheld({ ...stored, 'connection.url': url }, [], stored).keys;
    assert.deepEqual(held(stored['connection.url']), [], 'it is what is stored');
    for (const typed of [
      'jdbc:db://evil/x?passfile=/w/pgpass',
      'jdbc:db://evil/x?sslmode=require&PassFile=/w/pgpass',
      'jdbc:db://evil/%zz?p%61ssfile=/w/pgpass',
      'jdbc:db:///?service=orders',
      'jdbc:db:///?servicefile=/w/services&service=orders',
    ]) {
      assert.deepEqual(held(typed), ['connection.url'], typed);
    }
    assert.deepEqual(held('jdbc:db://evil/x?ApplicationName=passfile'), []);
  });

  it('keep a stored value out of messages also where nothing says any more that it is a secret', async () => {
    const { config, kept } = withStoredValues({ 'connector.class': 'other.Sink', pin: '[hidden]' }, STORED);
    const secrets = await secretKeys(config, plugins);
    assert.equal(secrets.has('pin'), false);
    assert.equal(configMask(config, secrets, kept).hide('no 1234-5678'), 'no [hidden]');
  });
});
