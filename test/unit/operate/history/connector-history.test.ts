import assert from 'node:assert/strict';
import { declareOptions, type Plugin } from '../../../../src/index.ts';
import { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import { ConnectorHistory } from '../../../../src/operate/history/connector-history.ts';
import { prefixOf } from '../../../../src/operate/history/history-entry.ts';
import { ConfigStore } from '../../../../src/herder/stores/config-store.ts';
import { OwnStore } from '../../../../src/herder/stores/own-store.ts';
import { MemoryLog } from '../../../../src/herder/stores/record-log.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';

const ANN = { user: 'ann', address: '10.0.0.7' };

const sink = {
  type: 'sink',
  className: 'org.example.Sink',
  version: '1',
  options: declareOptions({
    pin: { type: 'PASSWORD', default: null, importance: 'HIGH', documentation: 'pin' },
    place: { type: 'STRING', default: null, importance: 'HIGH', documentation: 'place' },
  }),
} as unknown as Plugin;

class Scene {
  readonly configs = new ConfigStore((onRecord) => new MemoryLog(onRecord), silentLogger);
  readonly own = new OwnStore((onRecord) => new MemoryLog(onRecord), silentLogger);
  readonly history = this.worker();

  /** Another worker of the same cluster. */
  worker(maxChanges = 100): ConnectorHistory {
    const { configs, own } = this;
    const plugins = new PluginRegistry([sink]);
    return new ConnectorHistory(
      { configs, own, plugins, workerId: 'worker:8083', maxChanges, logger: silentLogger },
      (text) => text.replaceAll('from-a-provider', '[hidden]'),
    );
  }

  async put(name: string, config: Record<string, string>, what: 'created' | 'changed' = 'changed'): Promise<void> {
    const write = () => this.configs.putConnector(name, { name, 'connector.class': 'org.example.Sink', ...config });
    await this.history.recorded({ connector: name, by: ANN }, write, () => what);
  }

  async changes(name: string, history = this.history) {
    return (await history.items(name)).map(({ entry, difference }) => [entry.what, entry.by?.user ?? null, difference]);
  }
}

describe('the history of connectors', () => {
  it('hides passwords that only their plugin knows as such, URLs with passwords, and what providers gave', async () => {
    const scene = new Scene();
    await scene.put('c', { pin: '1234', place: 'a' }, 'created');
    await scene.put('c', { pin: '9876', place: 'x from-a-provider y' });
    await scene.put('c', { pin: '9876', place: 'http://u:pass@host', 'schema.registry.basic.auth.user.info': 'u:p' });
    await scene.put('c', { pin: '${file:/a:pin}', place: 'z' });
    assert.deepEqual(
      (await scene.history.items('c')).map(({ difference }) => difference),
      [
        [
          { key: 'pin', before: '[hidden]', after: '${file:/a:pin}' },
          { key: 'place', before: '[hidden]', after: 'z' },
          { key: 'schema.registry.basic.auth.user.info', before: '[hidden]' },
        ],
        [
          { key: 'place', before: 'x [hidden] y', after: '[hidden]' },
          { key: 'schema.registry.basic.auth.user.info', after: '[hidden]' },
        ],
        [
          { key: 'pin', before: '[hidden]', after: '[hidden]' },
          { key: 'place', before: 'a', after: 'x [hidden] y' },
        ],
        [
          { key: 'connector.class', after: 'org.example.Sink' },
          { key: 'name', after: 'c' },
          { key: 'pin', after: '[hidden]' },
          { key: 'place', after: 'a' },
        ],
      ],
    );
    assert.equal((await scene.history.configAt('c', 2)).config['pin'], '9876');
  });

  it('has restarts, changes of offsets and replays beside the configurations, with the worker (U12)', async () => {
    const scene = new Scene();
    await scene.put('c', { place: 'a' }, 'created');
    const done = () => Promise.resolve();
    await scene.history.recorded({ connector: 'c', task: 3, by: ANN }, done, () => 'restarted');
    await scene.history.recorded({ connector: 'c', by: null, automatic: true }, done, () => 'restarted');
    await scene.history.recorded({ connector: 'c', by: ANN }, done, () => 'offsetsChanged');
    await scene.history.recorded({ connector: 'c', by: ANN }, done, () => 'replayed');
    const items = await scene.history.items('c');
    assert.deepEqual(
      items.map(({ entry: { what, by, task, automatic, worker } }) => [what, by?.user, task, automatic, worker]),
      [
        ['replayed', 'ann', undefined, undefined, 'worker:8083'],
        ['offsetsChanged', 'ann', undefined, undefined, 'worker:8083'],
        ['restarted', undefined, undefined, true, 'worker:8083'],
        ['restarted', 'ann', 3, undefined, 'worker:8083'],
        ['created', 'ann', undefined, undefined, 'worker:8083'],
      ],
    );
    assert.deepEqual(
      items.slice(0, 4).map(({ difference }) => difference),
      [[], [], [], []],
    );
    assert.equal((await scene.history.configAt('c', items[0]?.entry.n ?? 0)).config['place'], 'a');
  });

  it('says what a restore would change today, also of a connector that was deleted, without secrets', async () => {
    const scene = new Scene();
    await scene.put('c', { pin: '1234', place: 'a', same: 'x' }, 'created');
    await scene.put('c', { pin: '9876', place: 'b', same: 'x' });
    await scene.put('c', { pin: '1234', place: 'c', same: 'x' });
    assert.deepEqual((await scene.history.toToday('c', 1)).difference, [{ key: 'place', before: 'c', after: 'a' }]);
    const { difference, newest, today } = await scene.history.toToday('c', 2);
    assert.deepEqual(difference, [
      { key: 'pin', before: '[hidden]', after: '[hidden]' },
      { key: 'place', before: 'c', after: 'b' },
    ]);
    assert.deepEqual([newest, today?.['place']], [3, 'c']);
    assert.deepEqual(await scene.history.deleted(), []);
    const remove = () => scene.configs.removeConnector('c');
    await scene.history.recorded({ connector: 'c', by: ANN }, remove, () => 'deleted');
    const gone = await scene.history.toToday('c', 2);
    assert.equal(gone.today, undefined);
    assert.deepEqual(gone.difference[2], { key: 'pin', after: '[hidden]' });
    const restorable = async () =>
      (await scene.history.deleted()).map(({ connector, restores }) => [connector, restores]);
    assert.deepEqual(await restorable(), [['c', 3]]);
    await scene.put('large', { pin: '1', place: 'x'.repeat(300_000) }, 'created');
    const removeLarge = () => scene.configs.removeConnector('large');
    await scene.history.recorded({ connector: 'large', by: ANN }, removeLarge, () => 'deleted');
    assert.deepEqual(
      new Map((await restorable()) as [string, unknown][]),
      new Map<string, unknown>([
        ['c', 3],
        ['large', undefined],
      ]),
    );
    await assert.rejects(scene.history.toToday('c', 4), /restore one before it$/);
  });

  it('has what was there before it began, and what changed while no worker of Sluice led', async () => {
    const scene = new Scene();
    await scene.configs.putConnector('old', { name: 'old', a: '1' });
    await scene.configs.putConnector('gone', { name: 'gone' });
    scene.history.onRebalanced(true);
    assert.deepEqual(await scene.changes('old'), [['found', null, null]]);
    await scene.configs.putConnector('old', { name: 'old', a: '2' });
    await scene.configs.putTargetState('old', 'PAUSED');
    await scene.configs.removeConnector('gone');
    const next = scene.worker();
    next.onRebalanced(true);
    assert.deepEqual(await scene.changes('old', next), [
      ['changed', null, [{ key: 'a', before: '1', after: '2' }]],
      ['found', null, null],
    ]);
    assert.deepEqual(await scene.changes('gone', next), [
      ['deleted', null, []],
      ['found', null, null],
    ]);
    const third = scene.worker();
    third.onRebalanced(true);
    assert.equal((await scene.changes('old', third)).length, 2, 'what is recorded is not recorded again');
  });

  it('keeps the last hundred changes, of them at most fifty pauses, and the configuration that counts', async () => {
    const scene = new Scene();
    await scene.put('c', { place: 'first' }, 'created');
    for (let round = 0; round < 60; round += 1) {
      const state = round % 2 === 0 ? 'PAUSED' : 'STARTED';
      const write = () => scene.configs.putTargetState('c', state);
      await scene.history.recorded({ connector: 'c', by: ANN }, write, () => 'paused');
    }
    const paused = await scene.history.items('c');
    assert.deepEqual([paused.length, paused.at(-1)?.entry.what], [51, 'created']);
    for (let round = 0; round < 120; round += 1) await scene.put('c', { place: String(round) });
    const all = await scene.history.items('c');
    assert.deepEqual([all.length, all[0]?.entry.n, all.at(-1)?.difference], [100, 181, null]);
    assert.equal(scene.own.entries(prefixOf('c')).length, 100);
    await assert.rejects(scene.history.configAt('c', 1), /has no change 1$/);
    assert.equal((await scene.history.configAt('c', 181)).config['place'], '119');
  });

  it('keeps as many changes as history.max.changes says, fewer from when a worker leads, and none with 0', async () => {
    const scene = new Scene();
    for (const place of ['leaked', 'b', 'c']) await scene.put('c', { place });
    await scene.put('other', { place: 'leaked' });
    const few = scene.worker(1);
    few.onRebalanced(true);
    await few.onStopped();
    assert.deepEqual(await scene.changes('c', few), [['changed', 'ann', null]]);
    assert.ok(!JSON.stringify(scene.own.entries(prefixOf('c'))).includes('leaked'));
    const none = scene.worker(0);
    none.onRebalanced(true);
    await none.onStopped();
    assert.deepEqual(scene.own.entries(prefixOf('c')), []);
    assert.deepEqual(scene.own.entries(prefixOf('other')), []);
    const write = () => scene.configs.putConnector('c', { name: 'c', place: 'd' });
    await none.recorded({ connector: 'c', by: ANN }, write, () => 'changed');
    none.onConnectorChanged('c');
    assert.deepEqual(await scene.changes('c', none), []);
  });

  it('bounds the bytes: large configurations go sooner, and one beyond 200 kB is recorded without its content', async () => {
    const scene = new Scene();
    for (let round = 0; round < 8; round += 1) await scene.put('c', { place: String(round).repeat(180_000) });
    assert.equal((await scene.history.items('c')).length, 5);
    await scene.put('c', { place: 'x'.repeat(210_000) });
    const [newest] = await scene.history.items('c');
    assert.deepEqual([newest?.entry.what, newest?.difference], ['changed', null]);
    await assert.rejects(scene.history.configAt('c', newest?.entry.n ?? 0), /was not kept$/);
    scene.worker().onRebalanced(true);
    assert.equal((await scene.history.items('c'))[0]?.entry.n, newest?.entry.n);
  });

  it('ignores records that are not its own', async () => {
    const scene = new Scene();
    await scene.put('c', {}, 'created');
    const strange = [
      {},
      { at: 'x', what: 'changed' },
      { at: 1, what: 'other' },
      { at: 1, what: 'changed', config: { a: 1 } },
    ];
    for (const [index, value] of strange.entries()) await scene.own.put(`${prefixOf('c')}${String(50 + index)}`, value);
    await scene.own.put(`${prefixOf('c')}x`, { at: 1, what: 'changed' });
    await scene.own.put('history/%zz/1', { at: 1, what: 'deleted' });
    scene.history.onRebalanced(true);
    assert.deepEqual((await scene.changes('c')).length, 1);
    await assert.rejects(scene.history.items('\ud800'), /not found/);
  });
});
